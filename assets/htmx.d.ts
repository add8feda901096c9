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
}

interface HtmxSwap extends HtmxRequest {
  readonly target: Element;
  shouldSwap: boolean;
  isError: boolean;
  readonly serverResponse: string;
}

interface GlobalEventHandlersEventMap {
  "htmx:xhr:progress": CustomEvent<ProgressEvent>;
  "htmx:beforeRequest": CustomEvent<HtmxRequest>;
  "htmx:afterRequest": CustomEvent<HtmxRequest>;
  "htmx:beforeOnLoad": CustomEvent<HtmxRequest>;
  "htmx:beforeSwap": CustomEvent<HtmxSwap>;
}
