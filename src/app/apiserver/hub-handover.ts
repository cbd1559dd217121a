import type { ApiServer } from '../../apiserver/options.ts';
import type { LocalWebhook } from '../../apiserver/webhooks/webhook-client.ts';
import { Handover } from '../journey/phase.ts';

/** The API of the journey, for the phases after it. */
export interface JourneyHub {
  readonly server: Pick<ApiServer, 'client' | 'url'>;
  /** Webhooks in this process, by `namespace/name` of the Service that definitions and configurations name. */
  readonly webhooks: Map<string, LocalWebhook>;
  readonly kubeconfigFile: string;
}

export const HUB = new Handover<JourneyHub>('hub');
