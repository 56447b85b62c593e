// Every operation of both descriptions through @hey-api/openapi-ts.
import * as control from "./generated/control/sdk.gen.js";
import { client as controlClient } from "./generated/control/client.gen.js";
import * as service from "./generated/openapi/sdk.gen.js";
import { client as serviceClient } from "./generated/openapi/client.gen.js";
import { base, image, key, pdf, relay, token, workspace } from "./given.js";

controlClient.setConfig({ baseUrl: `${base}/_/api/v1`, throwOnError: true });
serviceClient.setConfig({ baseUrl: base, auth: key, headers: { workspaceid: workspace }, throwOnError: true });

const throwOnError = true; // in each call too, for its types
const at = (id: string) => ({ path: { id }, throwOnError }) as const;
const place = { name: "Signature", kind: "signature", required: true, page: 1, x: 0.1, y: 0.1, width: 0.2, height: 0.1 } as const;
const ann = { name: "Ann", email: "ann@example.com" };

async function templates() {
  const { data: { id } } = await control.addTemplate({
    body: { name: "Offer", roles: [{ title: "Buyer", colour: "#1F6FEB" }], variables: ["[fee]"], expiresFor: "7d", pdf, fields: [{ ...place, role: "Buyer" }] }, throwOnError,
  });
  const { data: page } = await control.listTemplates({ query: { name: "Off", limit: 1 }, throwOnError });
  const titles: string[] = page.items.flatMap((t) => t.roles.map((r) => r.title));
  if (titles.join() !== "Buyer" || page.total !== 1) throw new Error(titles.join());
  await control.getTemplate(at(id));
  await control.getTemplatePdf(at(id));
  return id;
}

async function documents() {
  const { data: { id } } = await control.addDocument({ body: { name: "Lease", signers: [ann], pdf, fields: [{ ...place, role: ann.email }] }, throwOnError });
  await control.viewDocument({ ...at(id), body: { signer: ann.email, from: { ip: "203.0.113.9" } } });
  const { data: { signers: [signer] } } = await control.getDocument(at(id));
  await control.getSigningLink({ path: { token: token(signer.link) }, throwOnError });
  await control.signDocument({ ...at(id), body: { signer: ann.email, fields: [{ name: "Signature", image }] } });
  await control.settle({ body: { timeout: "30s" }, throwOnError });
  await control.getDocumentPdf(at(id));
  await control.getFinishedPdf(at(id));
  await control.payDocument(at(id));
  const { data: paid } = await control.listDocuments({ query: { status: "PAID", type: "PDF" }, throwOnError });
  if (paid.items.map((d) => d.name).join() !== "Lease") throw new Error("the paid document is not listed");
  await control.archiveDocument(at(id));
  await control.listAudit({ query: { documentId: id }, throwOnError });

  const draft = async () => at((await control.addDocument({ body: { name: "Draft", signers: [ann], draft: true }, throwOnError })).data.id);
  const sent = async () => {
    const path = await draft();
    await control.sendDocument(path);
    return path;
  };
  await control.declineDocument({ ...(await sent()), body: { signer: ann.email, reason: "too much" } });
  await control.expireDocument(await sent());
  await control.voidDocument(await sent());
  await control.deleteDocument(await draft());
}

async function forms() {
  const { data: { id } } = await control.addForm({ body: { title: "Intake", fields: [{ question: "Name", required: true }] }, throwOnError });
  await control.listForms({ throwOnError });
  await control.getForm(at(id));
  await service.send({ body: { signingType: "FORM_TEMPLATE", documentId: id, receiversList: [ann] }, throwOnError });
  const { data: mail } = await control.listMessages({ query: { documentId: id, kind: "invitation" }, throwOnError });
  await control.getFormLink({ path: { token: token(mail.items[0].link) }, throwOnError });
  const { data: { formResponseId } } = await control.submitForm({ ...at(id), body: { answers: { Name: "Cy" }, respondentEmail: "cy@example.com" } });
  await control.listResponses(at(id));
  const { data: { answers } } = await control.getResponse(at(formResponseId));
  if (answers[0].answer !== "Cy") throw new Error(answers[0].answer);
  await service.listResponses({ query: { formId: id }, throwOnError });
}

async function webhooks() {
  const { data: { id } } = await control.addWebhook({ body: { url: "http://127.0.0.1:9/", event: "new_signature_completed" }, throwOnError });
  await control.listWebhooks({ throwOnError });
  await control.getWebhook(at(id));
  const { data: delivery } = await control.testWebhook(at(id));
  await control.settle({ throwOnError });
  const { data: pending } = await control.listDeliveries({ query: { webhookId: id, status: "pending" }, throwOnError });
  if (pending.items[0].attempts.length !== 1) throw new Error("there is no attempt");
  await control.getDelivery(at(delivery.id));
  await control.resend(at(delivery.id));
  await control.resendFailed({ ...at(id), body: { since: "2020-01-01T00:00:00Z" } });
  await control.rotateSecret(at(id));
  await control.disableWebhook(at(id));
  await control.enableWebhook(at(id));
  await control.deleteWebhook(at(id));
}

async function streams() {
  const { data: opened } = await control.openRelay({ ...at(relay), body: { events: ["new_form_response"] } });
  if (opened.webhooks.length !== 1) throw new Error("the relay has no webhook");
  const attempts = await control.streamAttempts({ path: { id: relay }, sseMaxRetryAttempts: 1 });
  const events = await control.streamEvents({ sseMaxRetryAttempts: 1 });
  const next = Promise.all([attempts.stream.next(), events.stream.next()]);
  await control.testWebhook(at(opened.webhooks[0]));
  await next;
  await control.reportAttempt({ path: { id: relay, attempt: 99 }, body: { status: 200 }, throwOnError: false });
  await control.closeRelay(at(relay));
}

async function faults() {
  const { data: { id } } = await control.addRequestFault({ body: { operation: "void document", status: 503, latency: "10ms" }, throwOnError });
  await control.addDeliveryFault({ body: { duplicate: true, times: 2, shift: "-10m" }, throwOnError });
  const { data: { items } } = await control.listFaults({ throwOnError });
  if (!items.some((f) => f.request?.status === 503)) throw new Error("the fault is not listed");
  await control.removeFault(at(id));
  await control.clearFaults({ throwOnError });
}

async function api(template: string) {
  const { data: sent } = await service.send({
    body: { signingType: "PDF_TEMPLATE", documentId: template, receiversList: [{ ...ann, roleTitle: "Buyer" }], mailData: { subject: "Please sign", message: "By Friday." } },
    throwOnError,
  });
  const links = sent.signers?.map((s) => s.sentUrl);
  if (links?.length !== 1) throw new Error(sent.error ?? sent.message);
  const body = { documentId: template, documentType: "PDF_TEMPLATE", responseId: sent.createdDocumentId } as const;
  await service.sendReminder({ query: body, body, throwOnError });
  await service.voidDocument({ query: body, body, throwOnError });
  const { data: page } = await service.listDocuments({ query: { documentType: "PDF_TEMPLATE", limit: 5 }, throwOnError });
  if (page.documents[0].documentId !== template) throw new Error("the template is not listed");
  await service.listRespondents({ query: { templateId: template }, throwOnError });
}

await control.getStatus({ throwOnError });
await control.getCredentials({ throwOnError });
await control.addApiKey({ throwOnError });
const { data: suite } = await control.addWorkspace({ body: { name: "suite", lifetime: "1h" }, throwOnError });
await control.listWorkspaces({ throwOnError });
await control.removeWorkspace(at(suite.id));
const template = await templates();
await documents();
await forms();
await webhooks();
await streams();
await faults();
await api(template);
await control.listRequests({ query: { misses: true }, throwOnError });
await control.getClock({ throwOnError });
await control.advance({ body: { by: "3d" }, throwOnError });
await control.reset({ throwOnError });
await control.seed({ body: { documents: [{ key: "lease", name: "Lease", signers: [ann] }] }, throwOnError });
process.exit(); // the streams of the generated client end with the process
