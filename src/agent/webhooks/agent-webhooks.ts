import { OpenshiftAssistedConfigV1alpha1 } from '../../api/agent/bootstrap-v1alpha1.ts';
import {
  BOOTSTRAP_GROUP,
  OpenshiftAssistedConfig,
  OpenshiftAssistedConfigTemplate,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import {
  OpenshiftAssistedControlPlane,
  OpenshiftAssistedControlPlaneTemplate,
} from '../../api/agent/controlplane-v1alpha3.ts';
import type { DeepReadonly, KubeObject } from '../../api/object.ts';
import type { AdmissionRequest } from '../../kube/webhook/admission-request.ts';
import { type AdmissionResult, allowed, denied } from '../../kube/webhook/admission-result.ts';
import type { AdmissionContext, Validator } from '../../kube/webhook/typed-webhooks.ts';
import type { Webhooks } from '../../kube/webhook/webhooks.ts';
import type { Json } from '../../object/json.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { CONFIG_SPOKE, CONTROL_PLANE_SPOKE, TEMPLATE_SPOKE } from '../conversion/spokes.ts';
import { type BootInput, bootAdvice, bootMethodProblem, lossAdvice, lostFields } from './config-advice.ts';
import {
  controlPlaneAdvice,
  controlPlaneProblem,
  controlPlaneTemplateAdvice,
  controlPlaneTemplateProblem,
  lostControlPlaneFields,
} from './control-plane-advice.ts';

/** What is said about objects of a kind. */
interface Judgement<T> {
  /** Why an object is refused; one that was already stored with the same problem is left alone. */
  readonly problem: (object: T) => string | undefined;
  readonly advice: (object: T) => readonly string[];
  /** Fields that an update takes away. */
  readonly lost: (old: T, object: T) => readonly string[];
}

/**
 * Upstream judges configs only. What is denied here is impossible in annotations that upstream does not know; everything
 * else gets a warning and, from the controllers, a condition.
 */
function validatorOf<T extends KubeObject>(
  judgement: Judgement<DeepReadonly<T>>,
  isAdvising: (request: AdmissionRequest) => boolean = () => true,
): Validator<T> {
  return {
    validateCreate(object, context) {
      if (isAdvising(context.request)) warnAll(judgement.advice(object), context);
      return verdict(judgement.problem(object));
    },
    validateUpdate(old, object, context) {
      const { requestKind, kind } = context.request;
      if (isAdvising(context.request)) warnAll(judgement.advice(object), context);
      // Who wrote the stored version left out what he did not want.
      const lost = requestKind.version === kind.version ? [] : judgement.lost(old, object);
      warnAll(lossAdvice(requestKind.version, kind.version, lost), context);
      const problem = judgement.problem(object);
      return verdict(problem === judgement.problem(old) ? undefined : problem);
    },
  };
}

function warnAll(texts: readonly string[], context: AdmissionContext): void {
  for (const text of texts) context.warn(text);
}

const verdict = (problem: string | undefined): AdmissionResult =>
  problem === undefined ? allowed() : denied(problem, { reason: 'Invalid', code: 422 });

/** Both versions have the same form as far as it is judged. */
type Config = DeepReadonly<OpenshiftAssistedConfig>;

const bootInputOf = ({ metadata: { annotations }, spec }: Config): BootInput => ({
  ...(annotations !== undefined && { annotations }),
  ...(spec !== undefined && { spec }),
});

const CONFIG: Judgement<Config> = {
  problem: (object) => bootMethodProblem(bootInputOf(object)),
  advice: (object) => bootAdvice(bootInputOf(object), 'spec'),
  lost: (old, object) => lostFields(old.spec, object.spec, 'spec'),
};

/** Each version has a webhook, and a write is judged by both: only the one of the version that was written speaks. */
const isWritten = ({ requestKind, kind }: AdmissionRequest): boolean => requestKind.version === kind.version;

/** W1: the spec of a config never changes, since a machine boots once. */
function configValidator(): Validator<OpenshiftAssistedConfig> {
  const validator = validatorOf<OpenshiftAssistedConfig>(CONFIG, isWritten);
  return {
    ...validator,
    async validateUpdate(old, object, context) {
      const other = await validator.validateUpdate?.(old, object, context);
      // Specs come out of JSON.
      const [before, now] = [old.spec ?? {}, object.spec ?? {}] as unknown as readonly [Json, Json];
      if (!semanticEqual(before, now)) return denied('spec is immutable', { reason: 'BadRequest', code: 400 });
      return other;
    },
    validateDelete: () => undefined,
  };
}

const nameOf = (version: string): string => `${version}.validation.openshiftassistedconfig.${BOOTSTRAP_GROUP}`;

type Template = DeepReadonly<OpenshiftAssistedConfigTemplate>;

/** Stored objects may lack what is needed today. */
const templateOf = ({ spec }: Template): Partial<Template['spec']['template']> => spec?.template ?? {};

function templateInputOf(object: Template): BootInput {
  const { metadata: { annotations } = {}, spec } = templateOf(object);
  return { ...(annotations !== undefined && { annotations }), ...(spec !== undefined && { spec }) };
}

const TEMPLATE: Judgement<Template> = {
  problem: (object) => bootMethodProblem(templateInputOf(object)),
  advice: (object) => bootAdvice(templateInputOf(object), 'spec.template.spec'),
  lost: (old, object) => lostFields(templateOf(old).spec, templateOf(object).spec, 'spec.template.spec'),
};

type ControlPlane = DeepReadonly<OpenshiftAssistedControlPlane>;

const hasSpec = ({ spec }: Partial<ControlPlane>): boolean => spec !== undefined;

const CONTROL_PLANE: Judgement<ControlPlane> = {
  problem: (object) => (hasSpec(object) ? controlPlaneProblem(object) : undefined),
  advice: (object) => (hasSpec(object) ? controlPlaneAdvice(object) : []),
  lost: (old, object) => (hasSpec(old) && hasSpec(object) ? lostControlPlaneFields(old, object) : []),
};

const CONTROL_PLANE_TEMPLATE: Judgement<DeepReadonly<OpenshiftAssistedControlPlaneTemplate>> = {
  problem: controlPlaneTemplateProblem,
  advice: controlPlaneTemplateAdvice,
  // There is one version, which can say everything.
  lost: () => [],
};

/** Nobody but us has them: writes go on while they cannot be asked, and controllers report the same. */
const ADVISORY = { failurePolicy: 'Ignore' } as const;

/** Admission and conversion of the kinds of the bootstrap provider (W1, V1–V3, V7). */
export function registerBootstrapWebhooks(webhooks: Webhooks): void {
  const [hub, spoke] = [OpenshiftAssistedConfig, OpenshiftAssistedConfigV1alpha1];
  webhooks
    .validating(hub, configValidator(), { name: nameOf(hub.version) })
    // Its type is the one of the hub without what only that has.
    .validating(spoke, configValidator() as Validator<OpenshiftAssistedConfigV1alpha1>, {
      name: nameOf(spoke.version),
    })
    .validating(OpenshiftAssistedConfigTemplate, validatorOf(TEMPLATE), ADVISORY)
    .converting(OpenshiftAssistedConfig, CONFIG_SPOKE)
    .converting(OpenshiftAssistedConfigTemplate, TEMPLATE_SPOKE);
}

/** Admission and conversion of the kinds of the control-plane provider (V4, V5). */
export function registerControlPlaneWebhooks(webhooks: Webhooks): void {
  webhooks
    .validating(OpenshiftAssistedControlPlane, validatorOf(CONTROL_PLANE), ADVISORY)
    .validating(OpenshiftAssistedControlPlaneTemplate, validatorOf(CONTROL_PLANE_TEMPLATE), ADVISORY)
    .converting(OpenshiftAssistedControlPlane, CONTROL_PLANE_SPOKE);
}
