package signforms

// Operation is the name of an operation of the service, in [Options.Endpoints], [Error] and [Attempt].
type Operation string

// The six operations of the service.
const (
	OpListDocuments     Operation = "list documents"
	OpVoidDocument      Operation = "void document"
	OpRemind            Operation = "send reminder"
	OpSend              Operation = "send"
	OpListRespondents   Operation = "list respondents"
	OpListFormResponses Operation = "list responses"
)

// opRequest is the operation of [Client.Do] in errors and attempts. It has no entry in [Options.Endpoints].
const opRequest Operation = "request"

// method is a method of the client: the operation that it uses, and its name in errors.
type method struct {
	op   Operation
	name string
}

// Inputs is the part of a request that contains its inputs. Empty means the operation's default.
type Inputs string

// The places of inputs. InputsBoth sends the same values in the query and the body.
const (
	InputsQuery Inputs = "query"
	InputsBody  Inputs = "body"
	InputsBoth  Inputs = "both"
)

// An Endpoint overrides the method, the path or the place of inputs of an operation. Empty fields
// keep their defaults. docs/using.md shows how to rename an input.
type Endpoint struct {
	// Method is GET, POST, PUT, PATCH or DELETE.
	Method string `json:"method,omitempty"`
	// Path is appended to the base URL and begins with a slash. It may contain inputs of the
	// operation in braces, such as /documents/{documentId}/void. These inputs are escaped, and are
	// also sent in the place that Inputs names.
	Path string `json:"path,omitempty"`
	// Inputs is InputsQuery, InputsBody or InputsBoth. A GET has no body. [OpSend] has nested inputs, which need a body.
	Inputs Inputs `json:"inputs,omitempty"`
	// IgnoreTotals is for a list whose documentsCount and totalPages count something else than its
	// records, so that All would end with ErrIncomplete. With IgnoreTotals, All reads until the
	// service has no more records.
	IgnoreTotals bool `json:"ignoreTotals,omitempty"`
}
