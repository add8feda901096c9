// What the scripts use of htmx, which a page loads before them.
declare const htmx: {
  trigger(element: Element, event: string): void;
  process(element: Element): void;
};

/** A request of htmx's, and what asked for it. */
interface HtmxRequest {
  readonly elt: Element;
  readonly xhr: XMLHttpRequest;
  readonly successful: boolean;
  /** What its answer goes to. */
  readonly target: Element;
  readonly requestConfig: { readonly verb: string; readonly path: string; readonly formData: FormData };
}

interface HtmxSwap extends HtmxRequest {
  shouldSwap: boolean;
  isError: boolean;
  readonly serverResponse: string;
}

interface GlobalEventHandlersEventMap {
  "htmx:xhr:progress": CustomEvent<ProgressEvent>;
  "htmx:beforeRequest": CustomEvent<HtmxRequest>;
  "htmx:afterRequest": CustomEvent<HtmxRequest>;
  "htmx:beforeOnLoad": CustomEvent<HtmxRequest>;
  "htmx:sendError": CustomEvent<HtmxRequest>;
  "htmx:timeout": CustomEvent<HtmxRequest>;
  "htmx:beforeSwap": CustomEvent<HtmxSwap>;
}
