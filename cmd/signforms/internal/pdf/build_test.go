package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
)

// build writes objects, numbered from 1, and the table that leads to them. Object 1 is the catalog.
func build(objects ...string) []byte {
	var out, table bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	fmt.Fprintf(&table, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.Bytes(), len(objects)+1, start)
	return out.Bytes()
}

// buildPage makes a file of one page, object 3, with more entries of the page, and objects from 4 on.
func buildPage(entries string, objects ...string) []byte {
	box := "/MediaBox[0 0 595 842]"
	if strings.Contains(entries, "/MediaBox") {
		box = ""
	}
	page := "<</Type/Page/Parent 2 0 R" + box + entries + ">>"
	return build(append([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", page}, objects...)...)
}

// stream writes a stream with entries of its dictionary.
func stream(entries string, data []byte) string {
	return fmt.Sprintf("<</Length %d%s>>\nstream\n%s\nendstream", len(data), entries, data)
}
