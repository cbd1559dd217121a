import { ConfigMap } from '../../../api/generated/core-v1.ts';
import { type KubeObject, keyText } from '../../../api/object.ts';
import { Proxy, SINGLETON } from '../../../api/openshift/config-v1.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, retryError } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { ensureConfigMap } from '../config-map-write.ts';
import { type Notice, Notices } from '../notices.ts';
import { CLOUD_CONF, TRUSTED_CA, USER_NAMESPACE } from '../places.ts';
import { SyncReport } from '../sync-report.ts';
import { type BundleAnswer, checkedBundle, mergedBundle } from './bundle.ts';

export interface TrustedCaOptions {
  readonly managedNamespace: string;
  readonly clusterOperator: string;
  /** A file with the authorities that the system trusts. */
  readonly systemTrustBundle: string;
  readonly readText: (path: string) => Promise<string>;
  readonly clock: Clock;
}

const BUNDLE_KEY = 'ca-bundle.crt';
/** In the cloud config it is called otherwise. */
const CLOUD_BUNDLE_KEY = 'ca-bundle.pem';
const ANNOTATIONS = { 'openshift.io/owning-component': 'Cloud Compute / Cloud Controller Manager' };
const STALE_MS = 150_000;
/** Nothing tells of a change of the file of the system: it is read again so often. */
const REREAD_MS = 600_000;

/** A bundle that users gave, and who is to be told when it cannot be used. */
interface GivenBundle extends BundleAnswer {
  readonly regarding: KubeObject;
}

/** Keeps the authorities that cloud controller managers trust: those of the system and those of users (13). */
export class TrustedCaReconciler {
  readonly #options: TrustedCaOptions;
  /** What it tells the cluster of itself. */
  readonly report: SyncReport;
  readonly #notices = new Notices();

  constructor(options: TrustedCaOptions) {
    const { clusterOperator, clock } = options;
    this.#options = options;
    this.report = new SyncReport({
      controller: 'TrustedCABundleControllerController',
      clusterOperator,
      clock,
      staleMs: STALE_MS,
    });
  }

  reconcile(context: ReconcileContext): Promise<Result> {
    return this.report.around(context, () => this.#sync(context));
  }

  async #sync({ client, events, log }: ReconcileContext): Promise<Result> {
    const proxy = await client.find(Proxy, SINGLETON);
    if (proxy === undefined) return DONE;
    const system = await this.#systemBundle();
    const named = await proxyBundle(client, proxy);
    const brought = await this.#cloudBundle(client);
    const notices = [...noticesOf(named), ...noticesOf(brought)];
    const said = notices.map(({ note }) => note).join('; ');
    log.changed('ignored', said, 'Looked for authorities of users', { ignored: said });
    this.#notices.tell(events, notices, '');
    const bundle = mergedBundle({ system, proxy: named?.bundle, cloud: brought?.bundle });
    await ensureConfigMap(client, {
      key: { namespace: this.#options.managedNamespace, name: TRUSTED_CA },
      content: { data: { [BUNDLE_KEY]: bundle } },
      annotations: ANNOTATIONS,
      isOurs: true,
    });
    return after(REREAD_MS);
  }

  /** The node may be writing it just now, so whatever is wrong with it may pass. */
  async #systemBundle(): Promise<string> {
    const { readText, systemTrustBundle: path } = this.#options;
    const text = await readText(path).catch((cause: unknown) => {
      throw systemProblem(path, messageOf(cause), cause);
    });
    const { bundle, problem = 'it is empty' } = checkedBundle(text);
    if (bundle === undefined) throw systemProblem(path, problem);
    return bundle;
  }

  async #cloudBundle(client: KubeClient): Promise<GivenBundle | undefined> {
    const key = { namespace: this.#options.managedNamespace, name: CLOUD_CONF };
    const found = await client.find(ConfigMap, key);
    if (found?.data === undefined || !Object.hasOwn(found.data, CLOUD_BUNDLE_KEY)) return undefined;
    return givenIn(found, CLOUD_BUNDLE_KEY);
  }
}

const systemProblem = (path: string, problem: string, cause?: unknown) =>
  retryError('SystemBundleUnusable', `failed to get system trust bundle ${path}: ${problem}`, { cause });

async function proxyBundle(client: KubeClient, proxy: Proxy): Promise<GivenBundle | undefined> {
  const { name = '' } = proxy.spec?.trustedCA ?? {};
  if (name === '') return undefined;
  const key = { namespace: USER_NAMESPACE, name };
  const found = await client.find(ConfigMap, key);
  if (found !== undefined) return givenIn(found, BUNDLE_KEY);
  return {
    regarding: proxy,
    problem: `spec.trustedCA names ConfigMap ${keyText(key)}, which does not exist; its authorities are not trusted`,
  };
}

function givenIn(configMap: ConfigMap, key: string): GivenBundle {
  const { bundle, problem } = checkedBundle(configMap.data?.[key]);
  if (bundle !== undefined) return { regarding: configMap, bundle };
  const place = `key ${key} of ConfigMap ${keyText(configMap.metadata)}`;
  return { regarding: configMap, problem: `${place} is ignored, its authorities are not trusted: ${problem}` };
}

const noticesOf = (given: GivenBundle | undefined): readonly Notice[] =>
  given?.problem === undefined
    ? []
    : [{ regarding: given.regarding, reason: 'TrustedCAIgnored', note: given.problem }];
