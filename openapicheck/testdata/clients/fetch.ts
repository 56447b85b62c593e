// Every operation of both descriptions through openapi-typescript and openapi-fetch.
import createClient from "openapi-fetch";
import type { paths as Control } from "./generated/control.js";
import type { paths as Service } from "./generated/openapi.js";
import { base, image, key, pdf, relay, token, workspace } from "./given.js";

const control = createClient<Control>({ baseUrl: `${base}/_/api/v1` });
const service = createClient<Service>({ baseUrl: base, headers: { "x-api-key": key, workspaceid: workspace } });

async function ok<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (data === undefined) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
  return data;
}

async function status(want: number, answer: Promise<{ error?: unknown; response: Response }>) {
  const { error, response } = await answer;
  if (response.status !== want) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
}

const at = (id: string) => ({ params: { path: { id } } });
const place = { name: "Signature", kind: "signature", required: true, page: 1, x: 0.1, y: 0.1, width: 0.2, height: 0.1 } as const;
const ann = { name: "Ann", email: "ann@example.com" };

async function templates() {
  const { id } = await ok(control.POST("/templates", {
    body: { name: "Offer", roles: [{ title: "Buyer", colour: "#1F6FEB" }], variables: ["[fee]"], expiresFor: "7d", pdf, fields: [{ ...place, role: "Buyer" }] },
  }));
  const page = await ok(control.GET("/templates", { params: { query: { name: "Off", limit: 1 } } }));
  const titles: string[] = page.items.flatMap((t) => t.roles.map((r) => r.title));
  if (titles.join() !== "Buyer" || page.total !== 1) throw new Error(titles.join());
  await ok(control.GET("/templates/{id}", at(id)));
  await ok(control.GET("/templates/{id}/pdf", { ...at(id), parseAs: "arrayBuffer" }));
  return id;
}

async function documents() {
  const { id } = await ok(control.POST("/documents", { body: { name: "Lease", signers: [ann], pdf, fields: [{ ...place, role: ann.email }] } }));
  await ok(control.POST("/documents/{id}/view", { ...at(id), body: { signer: ann.email, from: { ip: "203.0.113.9" } } }));
  const [signer] = (await ok(control.GET("/documents/{id}", at(id)))).signers;
  await ok(control.GET("/links/sign/{token}", { params: { path: { token: token(signer.link) } } }));
  await ok(control.POST("/documents/{id}/sign", { ...at(id), body: { signer: ann.email, fields: [{ name: "Signature", image }] } }));
  await ok(control.POST("/clock/settle", { body: { timeout: "30s" } }));
  await ok(control.GET("/documents/{id}/pdf", { ...at(id), parseAs: "arrayBuffer" }));
  await ok(control.GET("/documents/{id}/finished", { ...at(id), parseAs: "arrayBuffer" }));
  await ok(control.POST("/documents/{id}/pay", at(id)));
  const paid = await ok(control.GET("/documents", { params: { query: { status: "PAID", type: "PDF" } } }));
  if (paid.items.map((d) => d.name).join() !== "Lease") throw new Error("the paid document is not listed");
  await ok(control.POST("/documents/{id}/archive", at(id)));
  await ok(control.GET("/audit", { params: { query: { documentId: id } } }));

  const draft = async () => at((await ok(control.POST("/documents", { body: { name: "Draft", signers: [ann], draft: true } }))).id);
  const sent = async () => {
    const path = await draft();
    await ok(control.POST("/documents/{id}/send", path));
    return path;
  };
  await ok(control.POST("/documents/{id}/decline", { ...(await sent()), body: { signer: ann.email, reason: "too much" } }));
  await ok(control.POST("/documents/{id}/expire", await sent()));
  await ok(control.POST("/documents/{id}/void", await sent()));
  await ok(control.POST("/documents/{id}/delete", await draft()));
}

async function forms() {
  const { id } = await ok(control.POST("/forms", { body: { title: "Intake", fields: [{ question: "Name", required: true }] } }));
  await ok(control.GET("/forms"));
  await ok(control.GET("/forms/{id}", at(id)));
  await ok(service.POST("/pdf-template-lambda", { body: { signingType: "FORM_TEMPLATE", documentId: id, receiversList: [ann] } }));
  const mail = await ok(control.GET("/messages", { params: { query: { documentId: id, kind: "invitation" } } }));
  await ok(control.GET("/links/form/{token}", { params: { path: { token: token(mail.items[0].link) } } }));
  const { formResponseId } = await ok(control.POST("/forms/{id}/submit", { ...at(id), body: { answers: { Name: "Cy" }, respondentEmail: "cy@example.com" } }));
  await ok(control.GET("/forms/{id}/responses", at(id)));
  const { answers } = await ok(control.GET("/responses/{id}", at(formResponseId)));
  if (answers[0].answer !== "Cy") throw new Error(answers[0].answer);
  await ok(service.GET("/get-form-responses", { params: { query: { formId: id } } }));
}

async function webhooks() {
  const { id } = await ok(control.POST("/webhooks", { body: { url: "http://127.0.0.1:9/", event: "new_signature_completed" } }));
  await ok(control.GET("/webhooks"));
  await ok(control.GET("/webhooks/{id}", at(id)));
  const delivery = await ok(control.POST("/webhooks/{id}/test", at(id)));
  await ok(control.POST("/clock/settle", {}));
  const pending = await ok(control.GET("/deliveries", { params: { query: { webhookId: id, status: "pending" } } }));
  if (pending.items[0].attempts.length !== 1) throw new Error("there is no attempt");
  await ok(control.GET("/deliveries/{id}", at(delivery.id)));
  await status(204, control.POST("/deliveries/{id}/resend", at(delivery.id)));
  await ok(control.POST("/webhooks/{id}/resend", { ...at(id), body: { since: "2020-01-01T00:00:00Z" } }));
  await ok(control.POST("/webhooks/{id}/rotate", at(id)));
  await status(204, control.POST("/webhooks/{id}/disable", at(id)));
  await status(204, control.POST("/webhooks/{id}/enable", at(id)));
  await status(204, control.DELETE("/webhooks/{id}", at(id)));
}

async function streams() {
  const opened = await ok(control.POST("/relays/{id}", { ...at(relay), body: { events: ["new_form_response"] } }));
  if (opened.webhooks.length !== 1) throw new Error("the relay has no webhook");
  for (const open of [
    (signal: AbortSignal) => control.GET("/relays/{id}/attempts", { ...at(relay), parseAs: "stream", signal }),
    (signal: AbortSignal) => control.GET("/events", { parseAs: "stream", signal }),
  ]) {
    const ending = new AbortController();
    const stream = await ok(open(ending.signal));
    await stream?.getReader().read(); // the comment at its beginning
    ending.abort();
  }
  await status(404, control.POST("/relays/{id}/attempts/{attempt}", { params: { path: { id: relay, attempt: 99 } }, body: { status: 200 } }));
  await status(204, control.DELETE("/relays/{id}", at(relay)));
}

async function faults() {
  const { id } = await ok(control.POST("/faults/requests", { body: { operation: "void document", status: 503, latency: "10ms" } }));
  await ok(control.POST("/faults/deliveries", { body: { duplicate: true, times: 2, shift: "-10m" } }));
  const { items } = await ok(control.GET("/faults"));
  if (!items.some((f) => f.request?.status === 503)) throw new Error("the fault is not listed");
  await status(204, control.DELETE("/faults/{id}", at(id)));
  await status(204, control.DELETE("/faults"));
}

async function api(template: string) {
  const sent = await ok(service.POST("/pdf-template-lambda", {
    body: { signingType: "PDF_TEMPLATE", documentId: template, receiversList: [{ ...ann, roleTitle: "Buyer" }], mailData: { subject: "Please sign", message: "By Friday." } },
  }));
  const links = sent.signers?.map((s) => s.sentUrl);
  if (links?.length !== 1) throw new Error(sent.error ?? sent.message);
  const body = { documentId: template, documentType: "PDF_TEMPLATE", responseId: sent.createdDocumentId } as const;
  await ok(service.POST("/send-reminder", { params: { query: body }, body }));
  await ok(service.POST("/void-document", { params: { query: body }, body }));
  const page = await ok(service.GET("/get-documents", { params: { query: { documentType: "PDF_TEMPLATE", limit: 5 } } }));
  if (page.documents[0].documentId !== template) throw new Error("the template is not listed");
  await ok(service.GET("/get-template-respondent", { params: { query: { templateId: template } } }));
  const refused = await service.GET("/get-template-respondent", { params: { query: {} } });
  if (typeof refused.error !== "object" || !refused.error.message) throw new Error("a request without an input is refused with a message");
}

await ok(control.GET("/status"));
await ok(control.GET("/credentials"));
await ok(control.POST("/api-keys"));
const suite = await ok(control.POST("/workspaces", { body: { name: "suite", lifetime: "1h" } }));
await ok(control.GET("/workspaces"));
await status(204, control.DELETE("/workspaces/{id}", at(suite.id)));
const template = await templates();
await documents();
await forms();
await webhooks();
await streams();
await faults();
await api(template);
const requests = await ok(control.GET("/requests", { params: { query: { misses: true } } }));
if (!requests.items[0].missing?.length) throw new Error("the request without an input is not listed");
await ok(control.GET("/clock"));
await ok(control.POST("/clock/advance", { body: { by: "3d" } }));
await ok(control.POST("/reset"));
await ok(control.POST("/seed", { body: { documents: [{ key: "lease", name: "Lease", signers: [ann] }] } }));
