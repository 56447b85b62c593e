// Shows a signing page inside another site's page:
//
//   <script src="https://sandbox.example/sign/embed.js"></script>
//   const signing = signforms.embed(document.querySelector("#here"), link, (event) => console.log(event.event));
//   signing.close();
//
// Events: ready, viewed, signed, declined, finished, error (with message, and with reason when the link leads to nothing that
// can be signed), resize (with height). The site's origin must be one of those that the sandbox allows with --frame-ancestor.
window.signforms = {
	embed(element, link, onEvent = () => {}) {
		const frame = document.createElement("iframe");
		const origin = new URL(link).origin;
		frame.src = link;
		frame.title = "Sign the document";
		frame.referrerPolicy = "no-referrer";
		frame.style.cssText = "width: 100%; height: 40rem; border: 0";
		let heard = false;
		const listen = (message) => {
			if (message.source !== frame.contentWindow || message.origin !== origin || message.data?.source !== "signforms") return;
			heard = true;
			onEvent(message.data);
		};
		// A page whose script is lost, or that may not be embedded here, says nothing.
		const unheard = () => !heard && frame.isConnected && onEvent({ source: "signforms", event: "error", message: "the signing page did not start" });
		frame.addEventListener("load", () => setTimeout(unheard, 10_000));
		window.addEventListener("message", listen);
		element.append(frame);
		return {
			frame,
			close() {
				window.removeEventListener("message", listen);
				frame.remove();
			},
		};
	},
};
