package probe

// Stranger returns a random text of the same form: an API key or an id that, most likely, nobody has.
func Stranger(text string) string { return stranger(text) }
