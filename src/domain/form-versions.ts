import { createHash } from "node:crypto";
import { UserError } from "./errors.ts";
import { cleanText, type FormInput } from "./fields.ts";

/** Fields that belong together, such as a driver and its model: a change of one is a change of all. */
type FieldGroups = readonly (readonly string[])[];

/** How a form's values fit a record that another user may have saved since the form was opened. */
interface FormMerge {
  /** The form with the saved values of the fields that only the other user changed. */
  readonly values: FormInput;
  /** These fields with their saved values. */
  readonly kept: FormInput;
  /** The fields that both changed, to different values, with their saved values. */
  readonly conflicts: FormInput;
}

/** In characters; forms have about forty fields. */
const maxOpened = 4000;

/** A digest of each value that a form shows when it is opened. The form sends it back in the field `opened`. */
export function formVersion(values: FormInput): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${digestOf(value)}`)
    .join(" ");
}

function digestOf(value = ""): string {
  return createHash("sha256").update(cleanText(value, true)).digest("hex").slice(0, 12);
}

/** A form without `opened` overwrites everything. With an unknown `opened`, every differing field is a conflict. */
export function mergeForm(sent: FormInput, saved: FormInput, groups: FieldGroups = []): FormMerge {
  const kept: Record<string, string | undefined> = {};
  const conflicts: Record<string, string | undefined> = {};
  const opened = new Map(
    sent.opened
      ?.slice(0, maxOpened)
      .split(" ")
      .map((part) => part.split("=", 2) as [string, string]),
  );
  const isChanged = (values: FormInput) => (name: string) => digestOf(values[name]) !== opened.get(name);
  const single = Object.keys(saved).filter((name) => !groups.flat().includes(name));
  for (const names of sent.opened === undefined ? [] : [...groups, ...single.map((name) => [name])]) {
    const differing = names.filter((name) => digestOf(sent[name]) !== digestOf(saved[name]));
    if (differing.length === 0 || !names.some(isChanged(saved))) continue;
    const target = names.some(isChanged(sent)) ? conflicts : kept;
    for (const name of differing) target[name] = saved[name] ?? "";
  }
  const inOrder = (found: FormInput) =>
    Object.fromEntries(Object.keys(saved).flatMap((name) => (name in found ? [[name, found[name]]] : [])));
  return { values: { ...sent, ...kept }, kept: inOrder(kept), conflicts: inOrder(conflicts) };
}

/** @throws UserError "stale" if both users changed a field */
export function checkedMerge(...[sent, saved, groups]: Parameters<typeof mergeForm>): FormMerge {
  const merge = mergeForm(sent, saved, groups);
  if (Object.keys(merge.conflicts).length === 0) return merge;
  throw new UserError(
    "stale",
    "Another user changed the same fields since you opened this. Your changes are not saved.",
  );
}
