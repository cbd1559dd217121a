import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Mutable } from '../../api/object.ts';
import { patcher } from '../../kube/apply/patcher.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import { orderV1beta2 } from '../../object/condition-dialects.ts';
import { configStatus, isNews, OWNED_CONDITIONS, type StatusNews } from './config-status.ts';
import type { Verdict } from './verdict.ts';

/** Writes what there is to say, where it is not said already, and tells people of changes (B1). */
export async function reportStatus(
  config: OpenshiftAssistedConfig,
  news: StatusNews,
  { client, events, now }: ReconcileContext,
): Promise<void> {
  const changes = patcher(client, OpenshiftAssistedConfig, config);
  changes.draft.status = configStatus(config, news, now()) as Mutable<
    NonNullable<OpenshiftAssistedConfig['status']>
  >;
  await changes.patch({
    ownedConditions: OWNED_CONDITIONS,
    orderConditions: orderV1beta2,
    observedGeneration: isFinished(news.verdict),
  });
  if (!isNews(config, news.verdict)) return;
  const { type, reason, note } = eventOf(news.verdict);
  events[type](config, reason, note);
}

const isFinished = (verdict: Verdict): boolean =>
  verdict.type === 'waiting' ? verdict.isUnfinished !== true : verdict.type !== 'failed';

function eventOf(verdict: Verdict): {
  readonly type: 'normal' | 'warning';
  readonly reason: string;
  readonly note: string;
} {
  if (verdict.type === 'idle') return { type: 'normal', reason: '', note: '' };
  if (verdict.type === 'available')
    return {
      type: 'normal',
      reason: 'DataSecretAvailable',
      note: `The bootstrap data is in Secret ${verdict.secretName}`,
    };
  return {
    type: verdict.isWarning === true ? 'warning' : 'normal',
    reason: verdict.reason,
    note: verdict.message,
  };
}
