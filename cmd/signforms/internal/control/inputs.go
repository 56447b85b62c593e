package control

// The types of signformstest that have names, kinds and numbers alone go over the wire as they are. Those with a length of time, a
// link or a key of a seed have a type here, whose fields stand in place of the embedded ones of the same name.
