import type { TestApp } from "../app.ts";

type Answer = Response | Promise<Response>;

export const statusesOf = (answers: readonly { readonly status: number }[]): number[] =>
  answers.map(({ status }) => status);

export async function textOf(answer: Answer): Promise<string> {
  return (await answer).text();
}

/** The answers to GET, in the order of the paths. */
export function fetchAll({ fetch }: Pick<TestApp, "fetch">, paths: readonly string[]): Promise<Response[]> {
  return Promise.all(paths.map((path) => fetch(path)));
}

/** The texts of the answers to GET, in the order of the paths. */
export function textsOf(service: Pick<TestApp, "fetch">, paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => textOf(service.fetch(path))));
}

export async function etagOf(answer: Answer): Promise<string> {
  return (await answer).headers.get("etag") ?? "";
}
