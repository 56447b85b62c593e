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

// Fact is one statement of the wire format about the service.
type Fact struct {
	ID    string
	Text  string
	Grade Grade
	// Never says why probe never asks about the fact. It is empty for facts that probe asks about.
	Never string
	// Mutating is set for facts that only the requests of Options.Mutating can test.
	Mutating bool
}

const (
	bySend    = "the send path is never asked"
	byWebhook = "only a delivery shows it: signforms receive"
)

// Facts are all facts, in the order of the report.
var Facts = []Fact{
	{ID: "list documents", Text: "documents are listed at GET /get-documents", Grade: Documented},
	{ID: "list respondents", Text: "GET /get-template-respondent is a path there, and looks at templateId", Grade: Documented},
	{ID: "list responses", Text: "GET /get-form-responses is a path there, and looks at formId", Grade: Documented},
	{ID: "redirects", Text: "the lists answer at their paths, and none is redirected", Grade: Assumed},
	{ID: "key status", Text: "a wrong key is answered 403", Grade: Live},
	{ID: "error layout", Text: "an error's body is {\"message\", \"code\"}", Grade: Assumed},
	{ID: "error codes", Text: "a wrong key has the code forbidden, a malformed id invalid_input", Grade: Assumed},

	{ID: "page size", Text: "without a limit a page of documents has 10", Grade: Assumed},
	{ID: "limit one", Text: "limit=1 gives one document", Grade: Documented},
	{ID: "largest limit", Text: "limit=100 is obeyed as far as there are documents, and 101 is refused with 400", Grade: Assumed},
	{ID: "pages", Text: "pages count from 1", Grade: Documented},
	{ID: "empty list", Text: "lists of documents without records are empty arrays", Grade: Assumed},
	{ID: "pagination", Text: "lists of documents come with pagination", Grade: Live},
	{ID: "documents count", Text: "in lists without a filter, documentsCount counts all documents, not those of the page", Grade: Assumed},
	{ID: "totals", Text: "in lists without a filter, totalDocuments and totalPages count the whole list", Grade: Assumed},
	{ID: "default order", Text: "without sortOrder the documents read come newest first", Grade: Documented},
	{ID: "sort orders", Text: "sortOrder=asc and desc sort the documents read by createdAt", Grade: Documented},
	{ID: "ties", Text: "with sortOrder, documents of one time are sorted by documentId", Grade: Assumed},
	{ID: "archive", Text: "without archive, lists without another filter hold archived documents too", Grade: Assumed},
	{ID: "unknown parameters", Text: "unknown parameters are ignored", Grade: Assumed},
	{ID: "status in progress", Text: "the status in progress is PENDING", Grade: Assumed},
	{ID: "unknown status", Text: "the unknown statuses NO_SUCH_STATUS and FROZEN are refused as filters with 400", Grade: Assumed},
	{ID: "times", Text: "dateFrom and dateTo take RFC 3339 times", Grade: Assumed},
	{ID: "dates alone", Text: "dateFrom and dateTo take a date without a time", Grade: Assumed},
	{ID: "dateFrom included", Text: "dateFrom includes its own millisecond, and no earlier one", Grade: Assumed},
	{ID: "dateTo included", Text: "dateTo includes its own millisecond, and no later one", Grade: Assumed},

	{ID: "id filter", Text: "documentId gives the one document with this id, and none for an unknown id", Grade: Documented},
	{ID: "malformed id", Text: "documentId=not-an-id and an ObjectId as documentId are refused with 400", Grade: Assumed},
	{ID: "ids in any case", Text: "documentId is compared without regard to case", Grade: Assumed},
	{ID: "unknown template", Text: "respondents of an unknown template are answered 404", Grade: Assumed},
	{ID: "unknown form", Text: "responses of an unknown form are answered 404", Grade: Assumed},
	{ID: "any form id", Text: "a form's id may have any shape: formId=Not an id.1 is unknown, not malformed", Grade: Assumed},
	{ID: "one respondent", Text: "a respondent asked for by respondentDocumentId comes as an array of one", Grade: Live},

	{ID: "spellings", Text: "the documents read have documentName, signingType, isSigningOrder, not their other spellings", Grade: Live},
	{ID: "document fields", Text: "the documents read have the fields that the wire format names, in one of their spellings", Grade: Live},
	{ID: "template fields", Text: "the templates read have roles, totalRespondants and totalSignedRespondants, so spelled", Grade: Live},
	{ID: "signer statuses", Text: "the signers read, of documents and respondents, are PENDING, VIEWED or SIGNED", Grade: Live},
	{ID: "other fields", Text: "the lists of documents read, and what is in them, hold no field that the wire format does not name", Grade: Assumed},
	{ID: "created format", Text: "createdAt of the documents and templates read is RFC 3339 in UTC with milliseconds", Grade: Assumed},

	{ID: "void document", Text: "the SDK's request to void works: POST /void-document, inputs in query and body at once", Grade: Assumed, Mutating: true},
	{ID: "send reminder", Text: "the SDK's request to remind works: POST /send-reminder, inputs in query and body at once", Grade: Assumed, Mutating: true},
	{ID: "refusal status", Text: "what the status forbids is answered 409", Grade: Assumed, Never: "it takes a document that may be lost"},
	{ID: "act answers", Text: "void and reminder answer with documentId and status", Grade: Assumed, Never: "it takes a document that is lost"},
	{ID: "refused reminders count", Text: "a refused reminder counts towards the limit", Grade: Assumed, Never: "it takes more reminders than probe may send"},
	{ID: "PDF of a send", Text: "pdfData is a data URL", Grade: Assumed, Never: bySend},
	{ID: "roles of a send", Text: "a role may have no receiver, or several", Grade: Assumed, Never: bySend},
	{ID: "send", Text: "templates and forms are sent by POST /pdf-template-lambda", Grade: Documented, Never: bySend},
	{ID: "webhook timestamps", Text: "x-timestamp is in Unix seconds", Grade: Assumed, Never: byWebhook},
	{ID: "untyped samples", Text: "samples of the test button have webhookEvent", Grade: Live, Never: byWebhook},
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
