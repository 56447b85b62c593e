package pdf

// Draw returns a PDF with a title and paragraphs on A4 pages. Draw is for documents that were made
// without an uploaded file. A character that no embedded font has is shown as □; see [Missing].
func Draw(title string, paragraphs []string) ([]byte, error) {
	f := &flow{canvas: newCanvas()}
	f.page()
	f.line(0, title, fontBold, 20)
	for _, p := range paragraphs {
		f.space(8)
		f.line(0, p, fontRegular, 11)
	}
	return f.bytes()
}
