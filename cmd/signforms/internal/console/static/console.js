// Pages update themselves: an event of the kinds in data-live fetches the page's content again, at most twice a second.
const { live, events, stream } = document.body.dataset;
let sending = 0; // forms
if (live) {
	let port, number = 0, silent = 0, due = 0, forced = false, gone = false, lost = 0;
	const follow = () => port.postMessage(live.split(","));
	const leave = () => port.postMessage([]);
	const main = document.querySelector("#main");
	// What a page cannot show is said in a line, which goes when the page has been fetched again.
	const say = (...content) => {
		if (main.querySelector(".stale")?.textContent === content.map((part) => part.textContent ?? part).join("")) return;
		main.querySelector(".stale")?.remove();
		const line = Object.assign(document.createElement("p"), { className: "notice stale" });
		line.setAttribute("role", "status");
		line.append(...content);
		main.querySelector(".head").after(line);
	};
	const noLongerIn = () => say("You are not logged in any more, so this page may be out of date. ", loginLink(), ".");
	const show = (asked) => {
		due = 0;
		forced = Boolean(asked);
		if (gone) location.reload(); // says that the workspace was removed, or shows the one that has its name now
		else htmx.trigger(main, "refresh");
	};
	// Do not replace what the user is typing, has opened or is sending.
	const busy = () => sending || main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select") ||
		main.querySelector("details[open], [role=dialog]:popover-open, [role=alert]");
	const refresh = () => {
		if (!due) return;
		if (!busy()) return show();
		if (Date.now() - due > 5000) {
			const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: "Show it", onclick: show });
			say("Something may have changed since this page was shown. ", button);
		}
		setTimeout(refresh, 500);
	};
	const hear = ({ data }) => {
		silent = 0;
		if (data === "here") return;
		if (data === "lost") {
			const since = new Date().toLocaleTimeString("en-GB");
			lost ||= setTimeout(() => say(`The sandbox has not answered since ${since} by your clock, so this page may be out of date.`), 3000);
			return;
		}
		clearTimeout(lost);
		lost = 0;
		if (data === "out") return noLongerIn();
		if (data === "gone") {
			try {
				if (sessionStorage.getItem("gone") === events) return; // once, if the page is there and only its stream is not
				sessionStorage.setItem("gone", events);
			} catch { // the browser stores nothing for this page because it blocks cookies
				return say("This page does not update itself any more. Reload it.");
			}
			gone = true;
		}
		wait();
	};
	const wait = () => {
		if (!due) setTimeout(refresh, 500);
		due ||= Date.now();
	};
	const connect = () => {
		const options = { name: events + (number ? "#" + number : "") };
		try {
			port = new SharedWorker(stream, options).port;
		} catch { // the browser has none, or allows none because it blocks cookies
			port = new Worker(stream, options);
		}
		port.onmessage = hear;
		silent = 0;
	};
	connect();
	// A shared worker may end with the page that runs it. The others then take another one.
	setInterval(() => {
		if (++silent < 4) return;
		leave();
		number++;
		connect();
		follow();
	}, 20000);
	main.addEventListener("htmx:before:response", (event) => {
		if (!new URL(event.detail.ctx.response.raw.url).pathname.endsWith("/login")) return;
		event.preventDefault();
		noLongerIn();
	});
	main.addEventListener("htmx:before:swap", (event) => {
		if (forced || !busy()) return;
		event.preventDefault(); // something was begun since the page was asked for
		wait();
	});
	addEventListener("focus", () => main.querySelector(".stale a") && show()); // somebody who comes back from the login
	addEventListener("pageshow", follow);
	addEventListener("pagehide", leave);
}

document.addEventListener("click", async (event) => {
	const button = event.target.closest("[data-copy]");
	if (!button) return;
	const block = button.closest(".copyable");
	const text = block.querySelector("pre, code");
	try {
		await navigator.clipboard.writeText(text.textContent);
	} catch { // browsers allow this only on loopback and with HTTPS
		getSelection().selectAllChildren(text);
		if (!document.execCommand("copy")) return;
	}
	block.querySelector("[role=status]").textContent = "Copied";
});

// Forms are sent by the script, so that everything entered stays when one is refused or no answer comes, a file too. Above the button
// of a form with a file stands how that goes: the browser's own words about an input may be far away.
const isUpload = (form) => form.enctype === "multipart/form-data";
document.addEventListener("submit", (event) => {
	event.preventDefault();
	send(event.target, event.submitter ?? event.target.querySelector("button:not([type])"));
});
for (const form of document.forms) if (isUpload(form)) form.noValidate = true;

const kept = "Everything is still here: try again.";
const unknown = "Everything is still here. Look whether it was done before you try again: then it is done once more.";

function sayBefore(place, role, ...content) {
	document.querySelector(".notice")?.remove();
	const notice = document.createElement("p");
	notice.className = role === "alert" ? "notice bad" : "notice";
	notice.setAttribute("role", role);
	notice.append(...content);
	place.before(notice);
	notice.scrollIntoView({ block: "nearest" });
}

// asks reports whether a form only asks for a page.
const asks = (form, button) => (button.getAttribute("formmethod") ?? form.method) === "get";

// ask sends a form, as the browser would.
function ask(form, button) {
	const address = new URL(form.getAttribute("action") ?? location.href, location.href);
	const entered = new FormData(form, button);
	const fields = isUpload(form) ? entered : new URLSearchParams(entered);
	const signal = AbortSignal.timeout(120_000);
	if (!asks(form, button)) return fetch(address, { method: "POST", body: fields, signal });
	address.search = fields;
	return fetch(address, { signal });
}

// left is the button that led to another page. The browser may show this page again as it was left, and it can be used again then.
let left;
addEventListener("pageshow", () => {
	if (!left) return;
	left.disabled = false;
	document.querySelector(".notice")?.remove(); // "Saving …"
});

async function send(form, button) {
	const say = (...notice) => sayBefore(button.closest(".row") ?? button, ...notice);
	const wrong = isUpload(form) && [...form.elements].find((input) => !input.checkValidity());
	if (wrong) {
		wrong.focus();
		return say("alert", `${wrong.ariaLabel ?? wrong.labels[0].textContent}: ${wrong.validationMessage}`);
	}
	if (isUpload(form)) say("status", "Saving …");
	sending++;
	try {
		const asked = ask(form, button);
		button.disabled = true; // not before, as its own value is sent too
		const answer = await asked;
		if (answer.ok && (new URL(answer.url).searchParams.has("done") || asks(form, button) && !answer.redirected)) {
			delete form.dataset.unsaved;
			left = button;
			return location.assign(answer.url);
		}
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const seen = page.querySelector("[name=seen]");
		if (seen) form.elements.seen.value = seen.value;
		say("alert", ...problem(answer, page));
	} catch (error) {
		const late = error.name === "TimeoutError";
		say("alert", `There was no answer${late ? " in two minutes" : ""}, so whether it was done is not known. ${unknown}`);
	} finally {
		sending--;
	}
	button.disabled = false;
}

const loginLink = () => Object.assign(document.createElement("a"), { href: location.href, target: "_blank", textContent: "Log in in another tab" });

// problem returns why an answer is none to a form that was accepted.
function problem(answer, page) {
	if (answer.status === 401 || new URL(answer.url).pathname.endsWith("/login")) {
		return ["You are not logged in any more. ", loginLink(), ", then try here again: everything is still here."];
	}
	const words = page.querySelector("[role=alert]")?.textContent;
	if (words) return [words];
	if (answer.status === 413) return ["What was sent is too large for what stands before the sandbox: choose a smaller file."];
	if (answer.status === 403) return [`This was refused (403). ${kept}`];
	return [`The answer, ${answer.status}, does not say whether it was done. ${unknown}`];
}
