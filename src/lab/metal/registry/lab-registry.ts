import type { Clock } from '../../../base/clock.ts';
import type { HttpAnswer, HttpRequest } from '../../../oci/http-call.ts';
import { parseImageReference } from '../../../oci/image-reference.ts';
import { type RegistryFault, RegistryFaults } from './registry-faults.ts';
import { RegistryDoor, type RegistryLogin } from './registry-login.ts';
import { ReleaseCatalogue, USUAL_RELEASES } from './release-catalogue.ts';
import type { LabRelease, StoredContent } from './release-content.ts';

export interface LabRegistryOptions {
  /** Lab time. */
  readonly clock: Clock;
  /** The usual ones unless told otherwise. */
  readonly releases?: readonly LabRelease[];
  /** Repositories with these releases; those of OpenShift and OKD unless told otherwise. */
  readonly repositories?: readonly string[];
  /** Everybody may read without one. */
  readonly login?: RegistryLogin;
}

const USUAL_REPOSITORIES = ['openshift-release-dev/ocp-release', 'okd/scos-release'];
const ROUTE = /^\/v2\/(?:(.+)\/(manifests|blobs|tags)\/([^/]+))?$/;
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'UNSUPPORTED',
  429: 'TOOMANYREQUESTS',
};

/** A registry with release images, which others only read (OCI distribution specification). */
export class LabRegistry {
  readonly #catalogue: ReleaseCatalogue;
  readonly #repositories: readonly string[];
  readonly #faults: RegistryFaults;
  readonly #door: RegistryDoor;

  constructor({ clock, releases = USUAL_RELEASES, repositories = USUAL_REPOSITORIES, login }: LabRegistryOptions) {
    this.#catalogue = new ReleaseCatalogue(releases);
    this.#repositories = repositories;
    this.#faults = new RegistryFaults(clock);
    this.#door = new RegistryDoor(login, clock);
  }

  /** An {@link HttpCall}: answers whatever host it is asked at. Rejects when the client leaves during a delay. */
  readonly call = async (request: HttpRequest): Promise<HttpAnswer> => {
    const url = new URL(request.url);
    const fault = await this.#faults.hit(url.pathname, request.signal);
    const answer = fault.status === undefined ? this.#answer(request, url) : faulted(fault, url);
    const bytes = fault.isDamaged === true ? damaged(answer.bytes) : answer.bytes;
    return {
      status: answer.status,
      headers: { ...answer.headers, 'content-length': String(answer.bytes.length) },
      body: once(request.method === 'HEAD' ? new Uint8Array() : bytes),
    };
  };

  /** Goes wrong from now on, until it is disposed. */
  inject(fault: RegistryFault): Disposable {
    return this.#faults.inject(fault);
  }

  /** The release in an image, by tag or digest, whatever host names it. */
  versionOfImage(image: string): LabRelease | undefined {
    try {
      const { repository, tag = '', digest } = parseImageReference(image);
      return this.#repositories.includes(repository) ? this.#catalogue.release(digest ?? tag) : undefined;
    } catch {
      // What is no image is none of ours.
      return undefined;
    }
  }

  #answer(request: HttpRequest, url: URL): Told {
    const authorization = authorizationOf(request);
    if (this.#door.hasTokens && url.pathname === '/token') return this.#token(authorization, url);
    const [isKnown, repository = '', kind = '', reference = ''] = ROUTE.exec(url.pathname) ?? [];
    if (isKnown === undefined) return problem(404, `there is nothing at ${url.pathname}`);
    if (!this.#door.isOpen(authorization, repository)) {
      const challenge = this.#door.challenge(url, repository);
      return problem(401, 'authentication required', { 'www-authenticate': challenge });
    }
    if (!['GET', 'HEAD'].includes(request.method)) return problem(405, 'images of the lab are only read');
    return this.#content(repository, kind, reference);
  }

  #content(repository: string, kind: string, reference: string): Told {
    if (kind === '') return told(200, {});
    if (!this.#repositories.includes(repository)) return problem(404, `there is no repository ${repository}`);
    if (kind === 'tags') return this.#tags(repository, reference);
    const content = kind === 'blobs' ? this.#catalogue.blob(reference) : this.#catalogue.manifest(reference);
    return content === undefined ? problem(404, `${repository} has no ${reference}`) : contentAnswer(content);
  }

  #tags(repository: string, reference: string): Told {
    if (reference !== 'list') return problem(404, `there is nothing at ${reference}`);
    return told(200, { name: repository, tags: this.#catalogue.tags });
  }

  #token(authorization: string | undefined, { searchParams }: URL): Told {
    const token = this.#door.token(authorization, searchParams.get('scope') ?? '');
    return token === undefined ? problem(401, 'unknown user or wrong password') : told(200, token);
  }
}

const authorizationOf = ({ headers = {} }: HttpRequest): string | undefined =>
  headers['authorization'] ?? headers['Authorization'];

interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

const told = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Told => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  bytes: Buffer.from(JSON.stringify(body)),
});

const problem = (status: number, message: string, headers?: Readonly<Record<string, string>>): Told =>
  told(status, { errors: [{ code: CODES[status] ?? 'UNKNOWN', message }] }, headers);

const contentAnswer = ({ mediaType, digest, bytes }: StoredContent): Told => ({
  status: 200,
  headers: { 'content-type': mediaType, 'docker-content-digest': digest },
  bytes,
});

function faulted({ status = 500, retryAfterSeconds }: RegistryFault, { pathname }: URL): Told {
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return problem(status, `on purpose: fault at ${pathname}`, headers);
}

function damaged(bytes: Uint8Array): Uint8Array {
  const [first = 0] = bytes;
  return Uint8Array.from(bytes, (byte, at) => (at === 0 ? first ^ 0xff : byte));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes.length > 0) yield bytes;
}
