package look

// PlainPage returns a page with its style sheet inside, for content that is safe HTML. It is for
// people who may not load anything else.
func PlainPage(content string) string {
	return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sandbox</title><link rel="icon" href="` +
		string(Favicon) + `">
<style>` + Style + `</style></head>
<body><main class="wrap narrow" id="main"><h1 class="row">` + string(Mark) + ` Sandbox</h1>
` + content + `
</main></body>
</html>
`
}
