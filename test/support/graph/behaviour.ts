import type { BrowserBehaviour } from "./sign-in-ways.ts";

/**
 * How a simulated tenant behaves. Counts are numbers of requests, so that no behaviour depends on time. By default every wait
 * takes one poll, so that a client that does not wait fails.
 */
const usual = () => ({
  /** Items on one page of any list. */
  pageSize: 2,
  /** Lists of apps that omit a new app. */
  listedAfter: 0,
  /** Reads of a new app and of its lists that are refused with `unreadableStatus`. */
  unreadableFor: 0,
  unreadableStatus: 404 as 404 | 409,
  /** Calls of `updateRelationships` that a new app answers with 412. */
  unrelatableFor: 0,
  /** Polls of a file before it has its URI, or the result of its commit. */
  uriPolls: 1,
  commitPolls: 1,
  /** Results of requests for a URI. Each added file takes the next one; `Success` when none is left. */
  uriResults: [] as ("Success" | "Failed" | "TimedOut")[],
  /** Commits that fail without a reason. */
  commitFailures: 0,
  renewalState: "azureStorageUriRenewalSuccess" as
    | "azureStorageUriRenewalSuccess"
    | "azureStorageUriRequestSuccess",
  /** Storage requests to a new URI that are answered with 403. */
  newUriRefusals: 0,
  /** A URI expires after this many blocks. */
  blocksPerUri: Number.POSITIVE_INFINITY,
  /** PATCH requests with the content version that are refused after its commit. */
  patchRefusals: 0,
  /** Whether a PATCH is answered with 204 instead of the app. */
  patchReturnsNoBody: false,
  /** Reads of an app that return `processing` after its content version was set. */
  processingFor: 0,
  /** Whether the signed-in user lacks the permission. */
  isForbidden: false,
  /** Graph requests after which a token has expired. */
  requestsPerToken: Number.POSITIVE_INFINITY,
  /** Graph requests after which Graph asks for a token with a further claim, such as a second factor. */
  claimsAfter: Number.POSITIVE_INFINITY,
  /** Whether uploaded blocks stay in memory after their check. */
  keepsContent: true,
});

const usualSignIn = () => ({
  /** Seconds between polls; 0 allows every poll. */
  interval: 0,
  /** Seconds that `slow_down` adds. */
  slowDown: 5,
  expiresIn: 900,
  /** Answers to polls, in order; `ok` when none is left. Every other word is an error code. */
  answers: ["authorization_pending"],
  /** The error for the first request, such as `invalid_request AADSTS90002: Tenant not found.`; empty: none. */
  refusal: "",
  acceptsRefreshTokens: true,
  /** What the browser does at a sign-in in the browser. */
  browser: "ok" as BrowserBehaviour,
  /** Seconds that the service's clock is ahead. */
  clockAhead: 0,
});

export type SignInChanges = Partial<ReturnType<typeof usualSignIn>>;
export type BehaviourChanges = Partial<ReturnType<typeof usual>> & { signIn?: SignInChanges };
export type Behaviour = ReturnType<typeof behaviourOf>;

export function behaviourOf(changes: BehaviourChanges) {
  const own = structuredClone(changes);
  return { ...usual(), ...own, signIn: { ...usualSignIn(), ...own.signIn } };
}
