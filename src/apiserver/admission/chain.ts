import type { Json, JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { Admission, AdmissionAttributes } from '../rest/services.ts';
import { badRequest, StatusError } from '../status.ts';
import { managedFieldsProblem } from './managed-fields-check.ts';

type Mutated = ReturnType<Admission['mutate']>;

/** What the plugins of one write tell each other. */
export interface AdmissionRound {
  /** All plugins are asked a second time, because a webhook changed the object. */
  isAgain: boolean;
  /** Set by a webhook that changed the object. */
  isAgainWanted: boolean;
  /** What the webhooks remember from the first round. */
  webhooks: WebhookMemory | undefined;
}

export interface WebhookMemory {
  /** Asked already and willing to be asked again. */
  readonly reinvocable: Set<string>;
  /** To be asked again in the second round. */
  readonly due: Set<string>;
  /** The object as webhooks left it. */
  output: JsonObject | undefined;
}

/** One step of admission; it may leave out what it has no say in. */
export interface AdmissionPlugin {
  /** The changed object; undefined when it is still the one given (which a plugin may write to). Throws StatusError. */
  mutate?: (attributes: AdmissionAttributes, round: AdmissionRound) => Mutated;
  validate?: Admission['validate'];
}

/** Asks the plugins one after the other, first to change, then to judge (§16.1). Synchronous as long as they are. */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  const mutators = plugins.filter(({ mutate }) => mutate !== undefined);
  const validators = plugins.filter(({ validate }) => validate !== undefined);
  return {
    mutate: (attributes) => mutateAll(mutators, attributes),
    validate: (attributes) => validateFrom(validators, 0, attributes),
  };
}

/** Once, and once more when a webhook changed the object: built-in plugins may have a say in that, too. */
function mutateAll(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes): Mutated {
  const round: AdmissionRound = { isAgain: false, isAgainWanted: false, webhooks: undefined };
  const managedFields = attributes.object && metadataOf(attributes.object)['managedFields'];
  const first = mutateFrom({ plugins, round }, 0, attributes, false);
  if (!(first instanceof Promise)) return first;
  return first.then(async (object) => {
    if (!round.isAgainWanted) return object;
    round.isAgain = true;
    const again = await mutateFrom({ plugins, round }, 0, { ...attributes, object }, false);
    return checked(again ?? object, managedFields, attributes);
  });
}

interface Pass {
  readonly plugins: readonly AdmissionPlugin[];
  readonly round: AdmissionRound;
}

function mutateFrom(pass: Pass, start: number, given: AdmissionAttributes, wasChanged: boolean): Mutated {
  const { plugins, round } = pass;
  let attributes = given;
  let isChanged = wasChanged;
  for (let index = start; index < plugins.length; index++) {
    const result = plugins[index]?.mutate?.(attributes, round);
    if (result instanceof Promise) {
      const current = attributes;
      const changed = isChanged;
      return result.then((object) =>
        mutateFrom(
          pass,
          index + 1,
          object === undefined ? current : { ...current, object },
          changed || object !== undefined,
        ),
      );
    }
    if (result === undefined) continue;
    attributes = { ...attributes, object: result };
    isChanged = true;
  }
  return isChanged ? attributes.object : undefined;
}

/** What a webhook may have left in a state that nobody else looks at. */
function checked(
  object: JsonObject | undefined,
  managedFields: Json | undefined,
  attributes: AdmissionAttributes,
): JsonObject | undefined {
  if (object === undefined) return undefined;
  const metadata = metadataOf(object);
  checkPlace(metadata, attributes);
  const problem = managedFieldsProblem(metadata['managedFields']);
  if (problem === undefined) return object;
  if (managedFields === undefined) delete metadata['managedFields'];
  else metadata['managedFields'] = managedFields;
  attributes.warnings.add(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
  return object;
}

/** An object is stored where the request said, so it must say the same. */
function checkPlace(metadata: JsonObject, { operation, resource, namespace }: AdmissionAttributes): void {
  const found = textOf(metadata['namespace']);
  const wanted = resource.isNamespaced ? namespace : '';
  if (found === '' && wanted !== '') metadata['namespace'] = wanted;
  else if (found !== wanted) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (operation !== 'CREATE' || textOf(metadata['resourceVersion']) === '') return;
  throw new StatusError({ code: 500, message: 'resourceVersion should not be set on objects to be created' });
}

function validateFrom(
  plugins: readonly AdmissionPlugin[],
  start: number,
  attributes: AdmissionAttributes,
): Promise<void> | undefined {
  for (let index = start; index < plugins.length; index++) {
    const result = plugins[index]?.validate?.(attributes);
    if (result !== undefined) return result.then(() => validateFrom(plugins, index + 1, attributes));
  }
  return undefined;
}
