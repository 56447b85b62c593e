// What run.mjs gives the programs.
function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

export const base = given("SIGNFORMS_BASE_URL");
export const key = given("SIGNFORMS_API_KEY");
export const workspace = given("SIGNFORMS_WORKSPACE_ID");
export const pdf = given("PDF");
export const image = given("PNG");
export const relay = "abcdefghijklmnopqrst";

// token returns the last part of a link.
export function token(link: string | undefined): string {
  if (link === undefined) throw new Error("there is no link");
  return link.slice(link.lastIndexOf("/") + 1);
}
