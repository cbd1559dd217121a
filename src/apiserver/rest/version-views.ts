import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { ConversionProblem } from '../../object/merge/managed-fields.ts';
import type { CustomResource } from '../crd/custom-resource.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { StatusError } from '../status.ts';
import type { Scope } from './services.ts';

/** Says which view of an object is needed to go on. */
class MissingView extends Error {
  readonly object: JsonObject;
  readonly to: Resource;

  constructor(object: JsonObject, to: Resource) {
    super(`${apiVersionOf(to)} has not been asked for`);
    this.name = 'MissingView';
    this.object = object;
    this.to = to;
  }
}

/**
 * What objects of a custom resource look like in other versions. Working out ownership cannot wait for a webhook, and
 * which views it needs shows only on the way; so it starts over, with the same values, when one has been had.
 */
export class Views {
  readonly #scope: Scope;
  /** What is wanted in every version in which something is wanted: asked for in one call. */
  readonly #together: readonly JsonObject[];
  readonly #known = new Map<string, JsonObject | ConversionProblem>();
  #asksNobody = false;

  constructor(scope: Scope, together: readonly JsonObject[]) {
    this.#scope = scope;
    this.#together = together;
  }

  /** The object in a version; undefined when no webhook has a say in it. */
  of(object: JsonObject, to: Resource): JsonObject | undefined {
    if (this.#asksNobody) return undefined;
    const known = this.#known.get(keyOf(object, to));
    if (known === undefined) throw new MissingView(object, to);
    if (known instanceof ConversionProblem) throw known;
    return known;
  }

  async ask({ object, to }: MissingView): Promise<void> {
    const key = keyOf(object, to);
    // What is already in that version needs no view; asking for it would be a call for nothing.
    const others = this.#together.filter((other) => other['apiVersion'] !== apiVersionOf(to));
    const objects = [object, ...others.filter((other) => keyOf(other, to) !== key)];
    try {
      const converting = this.#scope.codec.convert(objects, asAnswered(to));
      this.#asksNobody = !(converting instanceof Promise);
      const converted = await converting;
      objects.forEach((one, index) => this.#known.set(keyOf(one, to), converted[index] ?? one));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#known.set(key, new ConversionProblem(error.message));
    }
  }
}

// The same object is made anew each time the work starts over.
const keyOf = (object: JsonObject, to: Resource): string => `${to.version} ${stringifyJson(object)}`;

const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const unshaped = new WeakMap<Resource, CustomResource>();

/** The version without its fields and defaults: upstream compares ownership before it prunes and defaults. */
function asAnswered(to: Resource): CustomResource {
  let result = unshaped.get(to);
  if (result === undefined) {
    const strategy = { ...to.strategy, setDefaults: () => undefined };
    result = { ...to, strategy, userSchema: ANYTHING, deprecationWarning: undefined };
    unshaped.set(to, result);
  }
  return result;
}

/** Does work that may need views of objects; synchronously when it needs none. */
export function withViews<Result>(
  scope: Scope,
  together: readonly JsonObject[],
  work: (views: Views) => Result,
): Result | Promise<Result> {
  const views = new Views(scope, together);
  const result = attempted(views, work);
  return result instanceof MissingView ? workedOut(views, work, result) : result;
}

async function workedOut<Result>(
  views: Views,
  work: (views: Views) => Result,
  first: MissingView,
): Promise<Result> {
  let missing = first;
  for (;;) {
    await views.ask(missing);
    const result = attempted(views, work);
    if (!(result instanceof MissingView)) return result;
    missing = result;
  }
}

function attempted<Result>(views: Views, work: (views: Views) => Result): Result | MissingView {
  try {
    return work(views);
  } catch (error) {
    if (error instanceof MissingView) return error;
    throw error;
  }
}
