import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { retryError, userError } from '../../base/errors.ts';
import type { LiveReader } from '../../kube/client/kube-client.ts';
import { authorityProblem } from '../../kube/config/pem.ts';
import { type AssistedSettings, bundleProblem } from './assisted-settings.ts';

const REASON = 'InvalidCABundle';

/** The authorities that assisted-service is trusted by, read once and again when they do not fit any more (E7, X16). */
export class TrustedBundle {
  readonly #settings: AssistedSettings;
  #pem: string | undefined;

  constructor(settings: AssistedSettings) {
    this.#settings = settings;
  }

  /** In PEM; undefined when only those of this machine are trusted. */
  async read(reader: LiveReader, now: Date): Promise<string | undefined> {
    const problem = bundleProblem(this.#settings);
    if (problem !== undefined) throw userError(REASON, problem);
    if (this.#settings.caBundleName === '') return undefined;
    this.#pem ??= await this.#fetch(reader, now);
    return this.#pem;
  }

  /** The next read asks the cluster again. */
  forget(): void {
    this.#pem = undefined;
  }

  async #fetch(reader: LiveReader, now: Date): Promise<string> {
    const { caBundleNamespace: namespace, caBundleName: name, caBundleResource, caBundleKey } = this.#settings;
    const key = { namespace, name };
    const isSecret = caBundleResource === 'secret';
    const object = isSecret ? await reader.find(Secret, key) : await reader.find(ConfigMap, key);
    const where = `${isSecret ? 'Secret' : 'ConfigMap'} ${namespace}/${name}`;
    if (object === undefined) throw retryError(REASON, `${where} with the CA bundle does not exist; create it`);
    const text = object.data?.[caBundleKey];
    if (text === undefined)
      throw retryError(REASON, `key ${caBundleKey} not found in ${where}; put the CA bundle under this key`);
    const pem = isSecret ? Buffer.from(text, 'base64').toString('utf8') : text;
    const problem = authorityProblem(pem, now);
    if (problem !== undefined) throw retryError(REASON, `key ${caBundleKey} of ${where}: ${problem}`);
    return pem;
  }
}
