// The link comes from the program that sent the document, as sentUrl. Here it follows the # in the address, because browsers send
// that part to no server.
const link = decodeURIComponent(location.hash.slice(1));
if (link) {
	const signing = signforms.embed(document.querySelector("#here"), link, (event) => {
		if (event.event === "resize") {
			signing.frame.style.height = `${Math.min(event.height, 900)}px`;
			return;
		}
		const item = document.createElement("li");
		item.textContent = event.message ? `${event.event}: ${event.message}` : event.event;
		document.querySelector("#events").append(item);
	});
}
