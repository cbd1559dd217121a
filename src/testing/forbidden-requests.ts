import { compareWithRules, type ObservedRequest } from '../kube/rbac/audit.ts';
import type { Need } from '../kube/rbac/need.ts';

/** More would not help anybody. */
const MOST = 50;

/** Requests of managers that the server refused for want of a right: each is told once (reliability P62). */
export class ForbiddenRequests {
  readonly #untold = new Map<string, { readonly manager: string; readonly request: ObservedRequest }>();
  readonly #told = new Set<string>();
  readonly #needsOf: (manager: string) => readonly Need[] | undefined;

  /** `needsOf` knows what a manager declares; undefined for whoever is no manager. */
  constructor(needsOf: (manager: string) => readonly Need[] | undefined) {
    this.#needsOf = needsOf;
  }

  record(manager: string, request: ObservedRequest): void {
    if (request.status !== 403 || this.#untold.size + this.#told.size >= MOST) return;
    const { verb, group, resource, namespace, name, path } = request;
    const key = JSON.stringify([manager, verb, group, resource, namespace, name, path]);
    if (!this.#told.has(key)) this.#untold.set(key, { manager, request });
  }

  /** Throws what nobody was told of, with the way to declare it. */
  throwIfAny(): void {
    const lines = [...this.#untold.values()].flatMap(({ manager, request }) => {
      const missing = missingRight(request, this.#needsOf(manager));
      return missing === undefined ? [] : [`${manager} may not ${lineOf(missing)}`];
    });
    for (const key of this.#untold.keys()) this.#told.add(key);
    this.#untold.clear();
    if (lines.length === 0) return;
    throw new Error(
      `the server forbade what no controller declares: ${lines.join('; ')}. A test that wants this starts the TestEnv with allowsForbidden: true`,
    );
  }
}

/**
 * Undefined when the right is declared, and so something else forbade it: a quota, a webhook, a namespace that ends. An
 * apply of what does not exist is refused though patching is allowed: the right to create is missing.
 */
function missingRight(request: ObservedRequest, needs: readonly Need[] | undefined): ObservedRequest | undefined {
  if (needs === undefined) return undefined;
  const isChange = request.verb === 'patch' || request.verb === 'update';
  const asked = isChange ? [request, { ...request, verb: 'create' }] : [request];
  return compareWithRules(asked, { needs }).uncovered[0];
}

function lineOf({ verb, group, resource, namespace, name, path }: ObservedRequest): string {
  if (resource === '') return `${verb} ${path}`;
  const [plural = '', subresource] = resource.split('/');
  const full = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  const place = [namespace, name].filter((part) => part !== '').join('/');
  const more = subresource === undefined ? '' : `, { subresource: '${subresource}' }`;
  const way = `.needs(needs(Kind, ['${verb}']${more}))`;
  return `${verb} ${full}${place === '' ? '' : ` ${place}`}: declare it with ${way}`;
}
