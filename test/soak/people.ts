import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { adminHeaders } from "../support/access/proxies.ts";
import { client } from "../support/app.ts";

type Client = ReturnType<typeof client>;

/** Sends requests one by one. @returns the statuses */
async function inOrder(requests: readonly (() => Promise<Response>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) {
    const answer = await request();
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  return statuses;
}

/** Signs in and out, with a wrong password by another person in between. */
export async function signInAndOut(url: string, round: number): Promise<number[]> {
  const { post } = client(url);
  const answer = await post("/sign-in", { name: "admin", password: adminPassword });
  const own = client(url, { cookie: cookiesOf(answer) });
  return [
    answer.status,
    ...(await inOrder([
      () => own.fetch("/account"),
      () => post("/sign-in", { name: `nobody${round % 50}`, password: `guess ${round}` }),
      () => own.post("/sign-out", {}),
      () => own.fetch("/account"),
    ])),
  ];
}

/** Creates, changes and deletes an account. */
export async function accountForAWhile(url: string, round: number): Promise<number[]> {
  const { post, fetch } = client(url, adminHeaders);
  const name = `person${round}`;
  const made = await post("/accounts", { name, role: "viewer" });
  await made.arrayBuffer();
  const list = await (await fetch("/accounts")).text();
  const id = new RegExp(`href="/accounts/(\\d+)">${name}<`).exec(list)?.[1];
  return [
    made.status,
    ...(await inOrder([
      () => post(`/accounts/${id}`, { role: "operator" }),
      () => post(`/accounts/${id}/password`, {}),
      () => post(`/accounts/${id}/disable`, {}),
      () => fetch("/accounts"),
      () => post(`/accounts/${id}/delete`, {}),
      () => fetch(`/audit?q=${name}`),
    ])),
  ];
}

/** Creates, uses and revokes a token, and ends a printer's links. */
export async function tokenForAWhile(url: string, printer: number, round: number): Promise<number[]> {
  const manager: Client = client(url, adminHeaders);
  const name = `token${round}`;
  const made = await manager.post("/tokens", { name, scope: `printer:${printer}`, days: "30" });
  const page = await made.text();
  const text = /platen_\w{39}/.exec(page)?.[0] ?? "";
  // The newest is first.
  const id = /action="\/tokens\/(\d+)\/delete"/.exec(page)?.[1];
  const bearer = client(url, { authorization: `Bearer ${text}` });
  const script = `/printers/${printer}/scripts/install`;
  return [
    made.status,
    ...(await inOrder([
      () => bearer.fetch(script),
      () => bearer.fetch("/printers"),
      () => manager.post(`/tokens/${id}/delete`, {}),
      () => bearer.fetch(script),
      () => client(url).fetch(script),
      () => manager.post(`/printers/${printer}/links/end`, {}),
    ])),
  ];
}
