package probe

// Grade is how certain the project's wire format is about a fact, without probe.
type Grade string

// The grades: documented, seen live by the author of a client, or assumed. Documented facts are asked about only if other facts
// depend on them.
const (
	Documented Grade = "D"
	Live       Grade = "L"
	Assumed    Grade = "A"
)

// Fact is one statement of the wire format about the service, as what a run would see of it. Of what the run did not ask for or did not
// read, it says nothing.
type Fact struct {
	ID    string
	Text  string
	Grade Grade
	// Mutating is set for facts that only the requests of Options.Mutating can test.
	Mutating bool
}

// Facts are all facts, in the order of the report. Above each group are the files that judge it. In the end rules.go may note of any
// fact that one answer contradicts it.
var Facts = []Fact{
	// paths.go, operations.go; redirects: rules.go
	{ID: "list documents", Text: "GET /get-documents listed documents", Grade: Documented},
	{ID: "list respondents", Text: "GET /get-template-respondent told requests apart by templateId, and gave none for an unknown one", Grade: Documented},
	{ID: "list responses", Text: "GET /get-form-responses told requests apart by formId, and gave none for an unknown one", Grade: Documented},
	{ID: "redirects", Text: "no list was redirected", Grade: Assumed},
	{ID: "key status", Text: "a key with the prefix of this one and a random rest was answered 403", Grade: Live},
	{ID: "error layout", Text: "GET /get-documents answered 4xx with a message and a code", Grade: Assumed},
	{ID: "error codes", Text: "an error's code was forbidden for that key, and invalid_input for not-an-id as a document's id", Grade: Assumed},

	// lists.go, totals.go, orders.go, archive.go, dates.go; statuses and unknown parameters: ids.go; empty list and pagination: rules.go
	{ID: "page size", Text: "without a limit a page of documents had 10", Grade: Assumed},
	{ID: "limit one", Text: "limit=1 gave one document", Grade: Documented},
	{ID: "largest limit", Text: "limit=100 gave 100 documents, or all that were seen, and 101 was refused with 400", Grade: Assumed},
	{ID: "pages", Text: "pages counted from 1: page=1 gave the first documents, page=0 none before them, and page=2 none of them", Grade: Documented},
	{ID: "empty list", Text: "lists of documents without records had an empty array", Grade: Assumed},
	{ID: "pagination", Text: "lists of documents had pagination", Grade: Live},
	{ID: "documents count", Text: "without a filter, the last page of documents ended where documentsCount put it", Grade: Assumed},
	{ID: "totals", Text: "without a filter, the last page of documents ended where totalDocuments and totalPages put it", Grade: Assumed},
	{ID: "default order", Text: "without sortOrder, documents came newest first", Grade: Documented},
	{ID: "sort orders", Text: "sortOrder=asc and desc gave documents sorted by createdAt", Grade: Documented},
	{ID: "archive", Text: "lists without a filter held archived documents too", Grade: Assumed},
	{ID: "unknown parameters", Text: "filter=nothing, sortBy=nothing and an invented parameter gave the same documents and counts", Grade: Assumed},
	{ID: "status in progress", Text: "documents that wait for their signers were PENDING, and none had an unknown status", Grade: Assumed},
	{ID: "unknown status", Text: "status=NO_SUCH_STATUS and status=FROZEN were refused with 400", Grade: Assumed},
	{ID: "times", Text: "dateFrom and dateTo took RFC 3339 times with milliseconds, and filtered", Grade: Assumed},
	{ID: "dates alone", Text: "dateFrom and dateTo took dates without a time, and filtered", Grade: Assumed},
	{ID: "dateFrom included", Text: "dateFrom at a document's createdAt listed it, and one millisecond later did not", Grade: Assumed},
	{ID: "dateTo included", Text: "dateTo at a document's createdAt listed it, and one millisecond earlier did not", Grade: Assumed},

	// ids.go, operations.go
	{ID: "id filter", Text: "documentId gave the one document with a known id, and none for an unknown id", Grade: Documented},
	{ID: "malformed id", Text: "as a document's id, not-an-id and an ObjectId were refused with 400", Grade: Assumed},
	{ID: "unknown template", Text: "respondents of an unknown template were answered 404", Grade: Assumed},
	{ID: "unknown form", Text: "responses of an unknown form were answered 404", Grade: Assumed},
	{ID: "one respondent", Text: "respondents asked for by respondentDocumentId came as arrays of one", Grade: Live},

	// rules.go, fields.go
	{ID: "spellings", Text: "documents had documentName, signingType, isSigningOrder, and not their other spellings", Grade: Live},
	{ID: "document fields", Text: "documents had the fields of the wire format, each in some spelling and of its kind, finishedPdfUrl aside", Grade: Live},
	{ID: "template fields", Text: "templates had roles, totalRespondants and totalSignedRespondants, so spelled and of their kinds", Grade: Live},
	{ID: "signer statuses", Text: "signers, of documents and respondents, were PENDING, VIEWED or SIGNED", Grade: Live},
	{ID: "created format", Text: "createdAt of documents and templates was RFC 3339 with milliseconds, ending in Z", Grade: Assumed},

	// mutate.go
	{ID: "void document", Text: "the SDK's request to void was understood: POST /void-document, inputs in query and body at once", Grade: Assumed, Mutating: true},
	{ID: "send reminder", Text: "the SDK's request to remind was understood: POST /send-reminder, inputs in query and body at once", Grade: Assumed, Mutating: true},
}

// Outcome is what probe found out about a fact.
type Outcome string

// The outcomes.
const (
	Holds      Outcome = "holds"
	Differs    Outcome = "differs"
	CannotTell Outcome = "cannot tell"
)

// Result is the outcome of one fact, with what was seen. Shared is Seen with the service's own words described instead of quoted.
type Result struct {
	Fact
	Outcome      Outcome
	Seen, Shared string
}
