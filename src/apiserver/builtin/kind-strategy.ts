import type { FieldError } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { copyKey } from './fields.ts';
import { shapeAsGo } from './go-shape.ts';

/** What a built-in kind says about itself; `kindStrategy` adds what all of them share. */
export interface KindRules
  extends Partial<Omit<Strategy, 'setDefaults' | 'prepareForCreate' | 'prepareForUpdate'>> {
  /** The type in the generated tables: `apps.v1.Deployment`. */
  readonly type: string;
  readonly setDefaults?: (object: JsonObject) => void;
  /** Makes the status of a new object; left out for kinds whose status is not a subresource. */
  readonly newStatus?: () => JsonObject;
  /** For the kinds whose status is a subresource but may be given on create. */
  readonly keepsStatus?: true;
  readonly onCreate?: (object: JsonObject, context: WriteContext) => void;
  /** Updates of the object itself; `/status` and other subresources go to `onSubresource`. */
  readonly onUpdate?: (object: JsonObject, old: JsonObject, context: WriteContext) => void;
  readonly onSubresource?: (object: JsonObject, old: JsonObject, context: WriteContext) => void;
  /** Rules for a change; `validate` is asked as well, unless only the status changes. */
  readonly validateChange?: (object: JsonObject, old: JsonObject, context: WriteContext) => readonly FieldError[];
}

const SHARED_KEYS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** The strategy of a built-in kind: Go's shape before its defaults, status apart from the rest (W10). */
export function kindStrategy(rules: KindRules): Strategy {
  const { type, setDefaults, newStatus, keepsStatus, onCreate, onUpdate, onSubresource, validateChange, ...rest } =
    rules;
  const hasStatus = newStatus !== undefined || keepsStatus === true;
  return {
    tracksGeneration: false,
    allowsUnconditionalUpdate: true,
    ...(hasStatus && { resetFields: { '': ['status'], status: ['spec'] } }),
    ...rest,
    setDefaults(object) {
      shapeAsGo(object, type);
      setDefaults?.(object);
    },
    prepareForCreate(object, context) {
      if (newStatus !== undefined) object['status'] = newStatus();
      onCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      if (context.subresource === '') {
        if (hasStatus) copyKey(object, old, 'status');
        onUpdate?.(object, old, context);
        return;
      }
      if (context.subresource === 'status') keepAllButStatus(object, old);
      onSubresource?.(object, old, context);
    },
    validateUpdate(object, old, context) {
      if (context.subresource === 'status') return [];
      return [...(rules.validate?.(object, context) ?? []), ...(validateChange?.(object, old, context) ?? [])];
    },
  };
}

/** A write to `/status` changes nothing but the status and what metadata allows. */
function keepAllButStatus(object: JsonObject, old: JsonObject): void {
  for (const key of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!SHARED_KEYS.has(key)) copyKey(object, old, key);
  }
}
