package look

import (
	"fmt"
	"html/template"
	"net/url"
)

// Mark is the project's logo as SVG: a signature above its line.
const Mark template.HTML = `<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">` + markPaths + `</svg>`

const markPaths = `<rect width="32" height="32" rx="8" fill="#3b45c4"/>` +
	`<path d="M7 18c3-9 7-12 8-9s-5 11-2 11 4-7 6-7-1 6 1 6 3-3 5-3M7 25h18" fill="none" stroke="#fff" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round"/>`

// Favicon is the logo as a data URL for an icon.
var Favicon = template.URL("data:image/svg+xml," + url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`+markPaths+`</svg>`))

// Functions are the functions that all templates may call.
var Functions = template.FuncMap{
	"limit":   limit,
	"icon":    icon,
	"mark":    func() template.HTML { return Mark },
	"favicon": func() template.URL { return Favicon },
}

// icons are the SVG paths of the icons, drawn with lines in a square of 24 units.
var icons = map[string]string{
	"overview":   "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
	"documents":  "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
	"templates":  "M4 4h16v5H4zM4 13h7v7H4zM15 13h5M15 16.5h5M15 20h5",
	"forms":      "M5 3h14v18H5zM8 8l1 1 2-2M14 8h2M8 14l1 1 2-2M14 14h2",
	"webhooks":   "M9 8a3 3 0 1 1 6 0c0 1-1 2-1.5 3l3 5M6 14a3 3 0 1 0 3 3h6M12 8l-3 6-2 3M15 17a3 3 0 1 0 2-3",
	"deliveries": "M21 3 10 14M21 3l-7 18-4-7-7-4z",
	"requests":   "M4 8h15l-4-4M20 16H5l4 4",
	"messages":   "M3 5h18v14H3zM3 6l9 7 9-7",
	"clock":      "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2",
	"faults":     "M12 3 2 20h20zM12 10v4M12 17v.01",
	"settings":   "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
	"menu":       "M4 6h16M4 12h16M4 18h16",
	"new":        "M12 5v14M5 12h14",
	"signature":  "M3 17c3-9 6-12 7-9s-4 9-1 9 3-6 5-6-1 5 1 5 2-2 4-2M3 21h18",
	"initials":   "M4 18 9 6l5 12M6 14h6M17 6v12M21 21H3",
	"text":       "M5 7V5h14v2M12 5v14M9 19h6",
	"date":       "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
	"checkbox":   "M4 4h16v16H4zM8 12l3 3 5-6",
}

// icon returns an icon as SVG, in the colour of the text. Screen readers ignore it.
func icon(name string) (template.HTML, error) {
	path, ok := icons[name]
	if !ok {
		return "", fmt.Errorf("no icon is called %q", name)
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="` + path + `"/></svg>`), nil
}
