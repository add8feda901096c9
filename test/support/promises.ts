import { dirname, relative, resolve } from "node:path";
import type { CallExpression, Expression, Node } from "typescript/unstable/ast";
import type { Checker, Project, Type } from "typescript/unstable/sync";

type TypeScript = typeof import("typescript/unstable/ast") & typeof import("typescript/unstable/sync");

/**
 * Finds promises that nothing waits for and whose errors nothing handles: statements whose value is a promise, and
 * functions that return one to a caller that expects nothing. Each is `file:line`.
 * Allowed are `await`, `void` (ignored on purpose), `.catch(…)`, `.then(…, …)` and promises kept in a variable.
 * @param config the path of a `tsconfig.json`; all of its files are read
 * @param sources texts that replace files, by path
 */
export async function floatingPromises(
  config: string,
  sources: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const ts = { ...(await import("typescript/unstable/ast")), ...(await import("typescript/unstable/sync")) };
  const texts = new Map(Object.entries(sources).map(([path, text]) => [resolve(path), text]));
  const folders = new Set([...texts.keys()].map((path) => dirname(path)));
  const api = new ts.API({
    fs: {
      readFile: (path) => texts.get(path),
      fileExists: (path) => texts.has(path) || undefined,
      directoryExists: (path) => folders.has(path) || undefined,
    },
  });
  try {
    const project = api.updateSnapshot({ openProjects: [resolve(config)] }).getProject(resolve(config));
    if (project === undefined) throw new Error(`${config} cannot be read`);
    return new PromiseFinder(ts, project).find();
  } finally {
    api.close();
  }
}

class PromiseFinder {
  readonly #ts: TypeScript;
  readonly #project: Project;
  readonly #checker: Checker;

  constructor(ts: TypeScript, project: Project) {
    this.#ts = ts;
    this.#project = project;
    this.#checker = project.checker;
  }

  find(): string[] {
    return this.#project.rootFiles.flatMap((path) => {
      const file = this.#project.program.getSourceFile(path);
      if (file === undefined) throw new Error(`${path} is not part of its project`);
      return this.#findIn(file).map((node) => {
        const before = file.text.slice(0, node.getStart(file));
        return `${relative("", path)}:${before.split("\n").length}`;
      });
    });
  }

  #findIn(node: Node): Node[] {
    const found = this.#floats(node) ? [node] : [];
    node.forEachChild((child) => {
      found.push(...this.#findIn(child));
    });
    return found;
  }

  #floats(node: Node): boolean {
    const ts = this.#ts;
    if (ts.isExpressionStatement(node)) return this.#isUnhandled(node.expression);
    const isFunction = ts.isArrowFunction(node) || ts.isFunctionExpression(node) || this.#isPassedOn(node);
    return isFunction && this.#isIgnoredByCaller(node);
  }

  /** Whether an expression's value contains a promise that nothing handles. */
  #isUnhandled(expression: Expression): boolean {
    const ts = this.#ts;
    if (ts.isParenthesizedExpression(expression)) return this.#isUnhandled(expression.expression);
    if (ts.isConditionalExpression(expression))
      return this.#isUnhandled(expression.whenTrue) || this.#isUnhandled(expression.whenFalse);
    if (ts.isBinaryExpression(expression))
      return !ts.isAssignmentOperatorToken(expression.operatorToken) && this.#isUnhandled(expression.right);
    if (ts.isAwaitExpression(expression)) return false;
    if (ts.isCallExpression(expression) && this.#isHandled(expression)) return false;
    return this.#isPromise(this.#checker.getTypeAtLocation(expression));
  }

  /** Whether a call handles its promise's errors; the test runner handles those of `test`. */
  #isHandled(call: CallExpression): boolean {
    const callee = call.expression;
    if (this.#ts.isIdentifier(callee)) return callee.text === "test" || callee.text === "describe";
    if (!this.#ts.isPropertyAccessExpression(callee)) return false;
    if (callee.name.text === "finally") return !this.#isUnhandled(callee.expression);
    if (callee.name.text === "then") return call.arguments.length === 2;
    return callee.name.text === "catch" && call.arguments.length === 1;
  }

  /** Whether a name, possibly of a function, is an argument of a call. */
  #isPassedOn(node: Node): node is Expression {
    const ts = this.#ts;
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return false;
    const { parent } = node;
    return (ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression !== node;
  }

  /** Whether a function returns a promise although its caller expects nothing. */
  #isIgnoredByCaller(work: Expression): boolean {
    const { isCallExpression, isPropertyAccessExpression, TypeFlags } = this.#ts;
    const callee = isCallExpression(work.parent) ? work.parent.expression : undefined;
    // `finally` waits for its function's promise, although its type does not say so.
    if (callee && isPropertyAccessExpression(callee) && callee.name.text === "finally") return false;
    if (!this.#results(this.#checker.getTypeAtLocation(work)).some((type) => this.#isPromise(type)))
      return false;
    const wanted = this.#results(this.#checker.getContextualType(work));
    return wanted.length > 0 && wanted.every((type) => (type.flags & TypeFlags.Void) !== 0);
  }

  /** The return types of a function type. */
  #results(type: Type | undefined): Type[] {
    if (type === undefined) return [];
    return this.#partsOf(type)
      .flatMap((part) => this.#checker.getSignaturesOfType(part, this.#ts.SignatureKind.Call))
      .flatMap((signature) => this.#checker.getReturnTypeOfSignature(signature) ?? []);
  }

  /** @param depth the number of enclosing arrays; an array type may contain itself */
  #isPromise(type: Type | undefined, depth = 0): boolean {
    return (
      type !== undefined &&
      depth < 8 &&
      this.#partsOf(type).some((part) => {
        if (part.isTypeReference() && (this.#checker.isArrayType(part) || this.#checker.isTupleType(part)))
          return this.#checker.getTypeArguments(part).some((item) => this.#isPromise(item, depth + 1));
        return this.#checker.getPropertyOfType(part, "then") !== undefined;
      })
    );
  }

  #partsOf(type: Type): readonly Type[] {
    return type.isUnionType() ? type.getTypes() : [type];
  }
}
