import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { bossHeaders } from "../support/access/proxies.ts";
import { client } from "../support/app.ts";

type Site = ReturnType<typeof client>;

/** Asks one after the other. @returns the statuses */
async function inTurn(asks: readonly (() => Promise<Response>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const ask of asks) {
    const answer = await ask();
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  return statuses;
}

/** Somebody signs in, and out again; somebody else does not know the password. */
export async function signInAndOut(url: string, turn: number): Promise<number[]> {
  const { post } = client(url);
  const answer = await post("/sign-in", { name: "admin", password: adminPassword });
  const own = client(url, { cookie: cookiesOf(answer) });
  return [
    answer.status,
    ...(await inTurn([
      () => own.fetch("/account"),
      () => post("/sign-in", { name: `nobody${turn % 50}`, password: `guess ${turn}` }),
      () => own.post("/sign-out", {}),
      () => own.fetch("/account"),
    ])),
  ];
}

/** An account comes, changes and goes. */
export async function accountForAWhile(url: string, turn: number): Promise<number[]> {
  const { post, fetch } = client(url, bossHeaders);
  const name = `person${turn}`;
  const made = await post("/accounts", { name, role: "viewer" });
  await made.arrayBuffer();
  const list = await (await fetch("/accounts")).text();
  const id = new RegExp(`href="/accounts/(\\d+)">${name}<`).exec(list)?.[1];
  return [
    made.status,
    ...(await inTurn([
      () => post(`/accounts/${id}`, { role: "operator" }),
      () => post(`/accounts/${id}/password`, {}),
      () => post(`/accounts/${id}/disable`, {}),
      () => fetch("/accounts"),
      () => post(`/accounts/${id}/delete`, {}),
      () => fetch(`/audit?q=${name}`),
    ])),
  ];
}

/** A token comes, is used and revoked; a printer's links end. */
export async function tokenForAWhile(url: string, printer: number, turn: number): Promise<number[]> {
  const site: Site = client(url, bossHeaders);
  const name = `token${turn}`;
  const made = await site.post("/tokens", { name, scope: `printer:${printer}`, days: "30" });
  const page = await made.text();
  const text = /platen_\w{39}/.exec(page)?.[0] ?? "";
  // The newest stands first.
  const id = /action="\/tokens\/(\d+)\/delete"/.exec(page)?.[1];
  const bearer = client(url, { authorization: `Bearer ${text}` });
  const script = `/printers/${printer}/scripts/install`;
  return [
    made.status,
    ...(await inTurn([
      () => bearer.fetch(script),
      () => bearer.fetch("/printers"),
      () => site.post(`/tokens/${id}/delete`, {}),
      () => bearer.fetch(script),
      () => client(url).fetch(script),
      () => site.post(`/printers/${printer}/links/end`, {}),
    ])),
  ];
}
