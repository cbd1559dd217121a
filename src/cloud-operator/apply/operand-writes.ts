import { type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';

export interface ApplierOptions {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  /** Whom events are about; the operand is what they are related to. */
  readonly regarding: KubeObject;
  readonly log: Log;
}

/** What events say about an operand; failures say what went wrong (R46). */
interface Notice {
  readonly reason: string;
  readonly note: string;
}
type FailureNotice = Pick<Notice, 'reason'>;

const CREATED: Notice = { reason: 'ResourceCreateSuccess', note: 'Resource was successfully created' };
const UPDATED: Notice = { reason: 'ResourceUpdateSuccess', note: 'Resource was successfully updated' };
const RECREATED: Notice = { reason: 'ResourceRecreateSuccess', note: 'Resource was successfully recreated' };
const CREATE_FAILED: FailureNotice = { reason: 'ResourceCreateFailed' };
const UPDATE_FAILED: FailureNotice = { reason: 'ResourceUpdateFailed' };
const DELETE_FAILED: FailureNotice = { reason: 'ResourceDeleteFailed' };

/** Writes of operands with the events that tell of them (R46). Failures are told and thrown, all of them may pass. */
export class OperandWrites {
  readonly #options: ApplierOptions;
  // One entry at most for each workload that was ever rendered: a handful.
  readonly #configProblems = new Map<string, string>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  find(kind: Kind, object: KubeObject): Promise<KubeObject | undefined> {
    const { client } = this.#options;
    return this.#attempt(UPDATE_FAILED, object, () => client.find(kind, keyOf(object)));
  }

  /** A ConfigMap that is new is said to be updated, as upstream says it (R45). */
  async create(kind: Kind, object: KubeObject): Promise<KubeObject> {
    const { client, log } = this.#options;
    const [success, failure] = kind.kind === 'ConfigMap' ? [UPDATED, UPDATE_FAILED] : [CREATED, CREATE_FAILED];
    const created = await this.#attempt(failure, object, () => client.create(kind, object));
    this.#tell(success, created);
    log.info({ kind: kind.kind, ...keyOf(object) }, 'Created operand');
    return created;
  }

  /** Undefined when the server found nothing to change: then nothing is told either. */
  async update(kind: Kind, object: KubeObject): Promise<KubeObject | undefined> {
    const { client, log } = this.#options;
    const written = await this.#attempt(UPDATE_FAILED, object, () => client.update(kind, object));
    if (written.metadata.resourceVersion === object.metadata.resourceVersion) return undefined;
    this.#tell(UPDATED, written);
    log.info({ kind: kind.kind, ...keyOf(object) }, 'Updated operand');
    return written;
  }

  /**
   * Deletes and creates, where `changed` cannot be changed in place. Asks before it deletes whether the server would
   * take the new one (R42). Killed in between, it is created by the next apply.
   */
  async recreate(kind: Kind, existing: KubeObject, required: KubeObject, changed: string): Promise<KubeObject> {
    const { client, log } = this.#options;
    const note = `${kind.kind} ${existing.metadata.name} is deleted and created again: ${changed} cannot be changed`;
    this.#tell({ reason: 'ResourceRecreating', note }, existing);
    await this.#attempt(CREATE_FAILED, existing, () => this.#tryOut(kind, required));
    await this.#attempt(DELETE_FAILED, existing, () => client.delete(kind, keyOf(existing), deletion(existing)));
    const created = await this.#attempt(CREATE_FAILED, required, () => client.create(kind, required));
    this.#tell(RECREATED, created);
    log.info({ kind: kind.kind, ...keyOf(required), changed }, 'Recreated operand');
    return created;
  }

  async delete(kind: Kind, object: KubeObject): Promise<void> {
    const { client, log } = this.#options;
    await this.#attempt(DELETE_FAILED, object, () => client.delete(kind, keyOf(object), deletion(object)));
    log.info({ kind: kind.kind, ...keyOf(object) }, 'Deleted operand');
  }

  /** Keeps nobody from going on; told again when it is another problem, or has been none meanwhile. */
  tellOfConfig(problem: string | undefined, operand: KubeObject): void {
    const { events, regarding } = this.#options;
    const place = `${operand.kind} ${keyText(keyOf(operand))}`;
    if (this.#configProblems.get(place) === problem) return;
    if (problem === undefined) {
      this.#configProblems.delete(place);
      return;
    }
    this.#configProblems.set(place, problem);
    events.warning(regarding, 'ConfigurationCheckFailed', redactedText(problem), { related: operand });
  }

  /** Under another name, since the old one is still there. */
  async #tryOut(kind: Kind, { metadata, ...required }: KubeObject): Promise<void> {
    const trial = { ...required, metadata: { ...metadata, name: `${metadata.name}-dry-run` } };
    try {
      await this.#options.client.create(kind, trial, { dryRun: true });
    } catch (error) {
      const text = `new resource validation prior to old resource deletion failed: ${messageOf(error)}`;
      throw retryError('ReplacementRefused', text, { cause: error });
    }
  }

  #tell(notice: Notice, operand: KubeObject): void {
    const { events, regarding } = this.#options;
    events.normal(regarding, notice.reason, notice.note, { related: operand });
  }

  async #attempt<T>(notice: FailureNotice, operand: KubeObject, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const { events, regarding } = this.#options;
      // A server may repeat what it was sent, such as a proxy with its password, and many may read events.
      events.warning(regarding, notice.reason, redactedText(messageOf(error)), { related: operand });
      throw error;
    }
  }
}

/** This very object, and nobody waits for what depends on it. */
const deletion = ({ metadata: { uid } }: KubeObject) => ({
  propagationPolicy: 'Background' as const,
  ...(uid !== undefined && { preconditions: { uid } }),
});
