// Pages update themselves: an event of the kinds in data-live fetches the page's content again, at most twice a second.
const { live, events, stream } = document.body.dataset;
if (live) {
	const Shared = self.SharedWorker ?? Worker;
	let port, number = 0, silent = 0, due = false, gone = false;
	const follow = () => port.postMessage(live.split(","));
	const leave = () => port.postMessage([]);
	const refresh = () => {
		const main = document.querySelector("#main");
		// Do not replace what the user is typing or has opened.
		const typing = main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
		if (typing || main.querySelector("details[open]")) return setTimeout(refresh, 500);
		due = false;
		if (gone) location.reload(); // says that the workspace was removed, or shows the one that has its name now
		else htmx.trigger(main, "refresh");
	};
	const hear = ({ data }) => {
		silent = 0;
		if (data === "here") return;
		if (data === "gone") {
			if (sessionStorage.getItem("gone") === events) return; // once, if the page is there and only its stream is not
			sessionStorage.setItem("gone", events);
			gone = true;
		}
		if (!due) setTimeout(refresh, 500);
		due = true;
	};
	const connect = () => {
		const worker = new Shared(stream, { name: events + (number ? "#" + number : "") });
		port = worker.port ?? worker;
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
	addEventListener("pageshow", follow);
	addEventListener("pagehide", leave);
}

document.addEventListener("click", async (event) => {
	const button = event.target.closest("[data-copy]");
	if (!button) return;
	const block = button.closest(".copyable");
	const text = block.querySelector("pre");
	try {
		await navigator.clipboard.writeText(text.textContent);
	} catch { // browsers allow this only on loopback and with HTTPS
		getSelection().selectAllChildren(text);
		if (!document.execCommand("copy")) return;
	}
	block.querySelector("[role=status]").textContent = "Copied";
});

// A form with a file is sent by the script, so that everything entered stays when it is refused, the file too. Above its button stands
// how that goes: the browser's own words about an input may be far away.
const uploads = document.querySelectorAll("form[enctype='multipart/form-data']");
for (const form of uploads) form.addEventListener("submit", (event) => {
	event.preventDefault();
	send(form);
});
for (const form of uploads) form.noValidate = true;

const kept = "Everything is still here: try again.";

async function send(form) {
	const button = form.querySelector("button.main");
	const say = (role, ...content) => {
		document.querySelector(".notice")?.remove();
		const notice = document.createElement("p");
		notice.className = role === "alert" ? "notice bad" : "notice";
		notice.setAttribute("role", role);
		notice.append(...content);
		button.before(notice);
		notice.scrollIntoView({ block: "nearest" });
	};
	const wrong = [...form.elements].find((input) => !input.checkValidity());
	if (wrong) {
		wrong.focus();
		return say("alert", `${wrong.ariaLabel ?? wrong.labels[0].textContent}: ${wrong.validationMessage}`);
	}
	button.disabled = true;
	say("status", "Saving …");
	try {
		const answer = await fetch(form.getAttribute("action") ?? location.href, { method: "POST", body: new FormData(form), signal: AbortSignal.timeout(120_000) });
		if (answer.ok && new URL(answer.url).searchParams.has("done")) {
			delete form.dataset.unsaved;
			return location.assign(answer.url);
		}
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const seen = page.querySelector("[name=seen]");
		if (seen) form.elements.seen.value = seen.value;
		say("alert", ...problem(answer, page));
	} catch (error) {
		const late = error.name === "TimeoutError";
		say("alert", late ? `There was no answer in two minutes, so whether it was saved is not known. ${kept}` : `The sandbox cannot be reached. ${kept}`);
	}
	button.disabled = false;
}

// problem returns why an answer is none to a form that was accepted.
function problem(answer, page) {
	if (answer.status === 401 || new URL(answer.url).pathname.endsWith("/login")) {
		const login = document.createElement("a");
		Object.assign(login, { href: location.href, target: "_blank", textContent: "Log in in another tab" });
		return ["You are not logged in any more. ", login, ", then save here again: everything is still here."];
	}
	const words = page.querySelector("[role=alert]")?.textContent;
	if (words) return [words];
	if (answer.status === 413) return ["The file is too large for what stands before the sandbox: choose a smaller one."];
	if (answer.status === 403) return [`This was refused (403). ${kept}`];
	return [`The sandbox failed (${answer.status}). ${kept}`];
}
