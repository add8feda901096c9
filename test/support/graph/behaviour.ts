/** How a simulated tenant behaves; counts are of requests, so that nothing depends on time. */
export interface Behaviour {
  /** Items of a page of any list. */
  pageSize: number;
  /** Lists of apps that do not show a new app yet. */
  listedAfter: number;
  /** Reads of a new app (and of its lists) that are refused, and how. */
  unreadableFor: number;
  unreadableStatus: 404 | 409;
  /** Calls of `updateRelationships` that a new app answers with 412. */
  unrelatableFor: number;
  /** Polls of a file until there is a URI, a new URI, or the result of the commit. */
  uriPolls: number;
  renewalPolls: number;
  commitPolls: number;
  /** What asking for a URI ends with; each file that is added takes the first that is left, and then `Success`. */
  uriResults: ("Success" | "Failed" | "TimedOut")[];
  /** Commits that fail although everything is right. */
  commitFailures: number;
  renewalState: "azureStorageUriRenewalSuccess" | "azureStorageUriRequestSuccess";
  /** Storage requests that a new URI answers with 403. */
  uriNotYet: number;
  /** Blocks that a URI takes until it has expired, and seconds. */
  uriBlocks: number;
  uriSeconds: number;
  /** PATCHes with a committed content version that are refused after a commit. */
  patchRefusals: number;
  /** Whether a PATCH answers 204 instead of the app. */
  patchSaysNothing: boolean;
  /** Reads of an app that call it `processing` after its content was set. */
  processingFor: number;
  /** The signed-in user lacks the permission. */
  isForbidden: boolean;
  /** Graph requests that a token is good for. */
  tokenRequests: number;
  /** Whether uploaded files stay on the disk when they were checked; without, `content` tells size and digest alone. */
  keepsContent: boolean;
  signIn: SignInBehaviour;
}

export interface SignInBehaviour {
  /** Seconds between polls; 0 lets every poll through. */
  interval: number;
  /** Seconds that `slow_down` adds. */
  slowDown: number;
  expiresIn: number;
  tokenExpiresIn: number;
  /** What polls are answered, in turn; when none is left, `ok`. Other words are errors of that name. */
  answers: string[];
  /** An error that the first request is answered with, as `invalid_request AADSTS90002: Tenant not found.` */
  refusal: string;
  /** Whether refresh tokens are taken. */
  refreshes: boolean;
}

export type BehaviourChanges = Partial<Omit<Behaviour, "signIn">> & { signIn?: Partial<SignInBehaviour> };

/** The defaults wait once for everything, so that who does not wait is found out. */
export function behaviourOf(changes: BehaviourChanges): Behaviour {
  return {
    pageSize: 2,
    listedAfter: 0,
    unreadableFor: 0,
    unreadableStatus: 404,
    unrelatableFor: 0,
    uriPolls: 1,
    renewalPolls: 1,
    commitPolls: 1,
    uriResults: [],
    commitFailures: 0,
    renewalState: "azureStorageUriRenewalSuccess",
    uriNotYet: 0,
    uriBlocks: Number.POSITIVE_INFINITY,
    uriSeconds: 3600,
    patchRefusals: 0,
    patchSaysNothing: false,
    processingFor: 0,
    isForbidden: false,
    tokenRequests: Number.POSITIVE_INFINITY,
    keepsContent: true,
    ...changes,
    signIn: {
      interval: 0,
      slowDown: 5,
      expiresIn: 900,
      tokenExpiresIn: 3600,
      answers: ["authorization_pending"],
      refusal: "",
      refreshes: true,
      ...changes.signIn,
    },
  };
}
