// What app.js uses of htmx, which a page loads before it.
declare const htmx: { trigger(element: Element, event: string): void };

interface GlobalEventHandlersEventMap {
  "htmx:xhr:progress": CustomEvent<ProgressEvent>;
  "htmx:afterRequest": CustomEvent<{ readonly successful: boolean; readonly xhr: XMLHttpRequest }>;
}
