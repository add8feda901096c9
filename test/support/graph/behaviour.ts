import type { BrowserBehaviour } from "./sign-in-browser.ts";

/** How a simulated tenant behaves. Counts are numbers of requests, so that no behaviour depends on time. */
export interface Behaviour {
  /** Items on one page of any list. */
  pageSize: number;
  /** Lists of apps that omit a new app. */
  listedAfter: number;
  /** Reads of a new app and of its lists that are refused with `unreadableStatus`. */
  unreadableFor: number;
  unreadableStatus: 404 | 409;
  /** Calls of `updateRelationships` that a new app answers with 412. */
  unrelatableFor: number;
  /** Polls of a file before it has its URI, or the result of its commit. */
  uriPolls: number;
  commitPolls: number;
  /** Results of requests for a URI. Each added file takes the next one; `Success` when none is left. */
  uriResults: ("Success" | "Failed" | "TimedOut")[];
  /** Commits that fail without a reason. */
  commitFailures: number;
  renewalState: "azureStorageUriRenewalSuccess" | "azureStorageUriRequestSuccess";
  /** Storage requests to a new URI that are answered with 403. */
  newUriRefusals: number;
  /** A URI expires after this many blocks. */
  blocksPerUri: number;
  /** PATCH requests with the content version that are refused after its commit. */
  patchRefusals: number;
  /** Whether a PATCH is answered with 204 instead of the app. */
  patchReturnsNoBody: boolean;
  /** Reads of an app that return `processing` after its content version was set. */
  processingFor: number;
  /** Whether the signed-in user lacks the permission. */
  isForbidden: boolean;
  /** Graph requests after which a token has expired. */
  requestsPerToken: number;
  /** Graph requests after which Graph asks for a token with a further claim, such as a second factor. */
  claimsAfter: number;
  /** Whether uploaded files stay on the disk after their check. Without them `content` has only size and digest. */
  keepsContent: boolean;
  signIn: SignInBehaviour;
}

export interface SignInBehaviour {
  /** Seconds between polls; 0 allows every poll. */
  interval: number;
  /** Seconds that `slow_down` adds. */
  slowDown: number;
  expiresIn: number;
  /** Answers to polls, in order; `ok` when none is left. Every other word is an error code. */
  answers: string[];
  /** The error for the first request, such as `invalid_request AADSTS90002: Tenant not found.`; empty: none. */
  refusal: string;
  acceptsRefreshTokens: boolean;
  /** What the browser does at a sign-in in the browser. */
  browser: BrowserBehaviour;
  /** Seconds that the service's clock is ahead. */
  clockAhead: number;
}

export type BehaviourChanges = Partial<Omit<Behaviour, "signIn">> & { signIn?: Partial<SignInBehaviour> };

/** By default every wait takes one poll, so that a client that does not wait fails. */
export function behaviourOf(changes: BehaviourChanges): Behaviour {
  return {
    pageSize: 2,
    listedAfter: 0,
    unreadableFor: 0,
    unreadableStatus: 404,
    unrelatableFor: 0,
    uriPolls: 1,
    commitPolls: 1,
    uriResults: [],
    commitFailures: 0,
    renewalState: "azureStorageUriRenewalSuccess",
    newUriRefusals: 0,
    blocksPerUri: Number.POSITIVE_INFINITY,
    patchRefusals: 0,
    patchReturnsNoBody: false,
    processingFor: 0,
    isForbidden: false,
    requestsPerToken: Number.POSITIVE_INFINITY,
    claimsAfter: Number.POSITIVE_INFINITY,
    keepsContent: true,
    ...changes,
    signIn: {
      interval: 0,
      slowDown: 5,
      expiresIn: 900,
      answers: ["authorization_pending"],
      refusal: "",
      acceptsRefreshTokens: true,
      browser: "ok",
      clockAhead: 0,
      ...changes.signIn,
    },
  };
}
