import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../object/field-error.ts';
import type { Json } from '../../object/json.ts';

/** Rules of the x-kubernetes-* fields of one node. */
export function extensionErrors(schema: Schema, path: string): readonly FieldError[] {
  const preserves: Json | undefined = schema['x-kubernetes-preserve-unknown-fields'];
  return [
    ...(preserves === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...mapTypeErrors(schema, path),
    ...listTypeErrors(schema, path),
    ...mapListErrors(schema, path),
    ...itemErrors(schema, path),
  ];
}

function wrongType(schema: Schema, path: string, wanted: string, field: string): readonly FieldError[] {
  const type = schema.type ?? '';
  if (type === wanted) return [];
  const why = `must be ${wanted} if ${field} is specified`;
  return [type === '' ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why)];
}

function mapTypeErrors(schema: Schema, path: string): readonly FieldError[] {
  const mapType: string | undefined = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const allowed = ['atomic', 'granular'];
  return [
    ...wrongType(schema, path, 'object', 'x-kubernetes-map-type'),
    ...(allowed.includes(mapType) ? [] : [notSupported(`${path}.x-kubernetes-map-type`, mapType, allowed)]),
  ];
}

function listTypeErrors(schema: Schema, path: string): readonly FieldError[] {
  const listType: string | undefined = schema['x-kubernetes-list-type'];
  if (listType === undefined) return [];
  const allowed = ['atomic', 'set', 'map'];
  const typeErrors = wrongType(schema, path, 'array', 'x-kubernetes-list-type');
  return [
    ...typeErrors,
    ...(typeErrors.length === 0 && listType === 'set' ? setErrors(schema.items, path) : []),
    ...(allowed.includes(listType) ? [] : [notSupported(`${path}.x-kubernetes-list-type`, listType, allowed)]),
  ];
}

/** The items of a set are compared as a whole. */
function setErrors(items: Schema | undefined, path: string): readonly FieldError[] {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(`${path}.items.x-kubernetes-list-type`, listType, why)];
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    // Upstream prints the list type of the items here, which objects have none of.
    return [invalid(`${path}.items.x-kubernetes-map-type`, listType ?? null, why)];
  }
  return [];
}

function mapListErrors(schema: Schema, path: string): readonly FieldError[] {
  const listType: string | undefined = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
  const at = `${path}.x-kubernetes-list-type`;
  if (listType !== 'map') {
    if (keys.length === 0) return [];
    return [listType === undefined ? required(at, why) : invalid(at, listType, why)];
  }
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    errors.push(
      required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'),
    );
  }
  const { items } = schema;
  if (items === undefined) {
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
  } else if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.items.type`, items.type ?? '', detail));
  } else {
    errors.push(...mapKeyErrors(items, keys, path));
  }
  return errors;
}

function mapKeyErrors(items: Schema, keys: readonly string[], path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const shown = [...keys];
  const at = `${path}.x-kubernetes-list-map-keys`;
  for (const [index, key] of keys.entries()) {
    const child = propertyOf(items, key);
    if (child === undefined) {
      errors.push(invalid(at, shown, 'entries must all be names of item properties'));
    } else if (child.type === 'array' || child.type === 'object') {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type ?? '', why));
    }
    if (keys.indexOf(key) < index) errors.push(invalid(at, shown, 'must not contain duplicate entries'));
  }
  return errors;
}

const propertyOf = ({ properties }: Schema, key: string): Schema | undefined =>
  properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;

/** Items of sets and maps are never null, and the keys of maps are always there. */
function itemErrors(schema: Schema, path: string): readonly FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  const { items } = schema;
  if (items === undefined || Array.isArray(items) || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(`${path}.items.nullable`, why));
  }
  if (listType === 'set') return errors;
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const child = propertyOf(items, key);
    if (child !== undefined)
      errors.push(...keyErrors(child, `${path}.items.properties[${key}]`, isRequired(items, key)));
  }
  return errors;
}

const isRequired = (items: Schema, key: string): boolean => items.required?.includes(key) === true;

function keyErrors(child: Schema, path: string, isThere: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!isThere && (child.default ?? null) === null) {
    const why =
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
    errors.push(required(`${path}.default`, why));
  }
  if (child.nullable === true) {
    const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
    errors.push(forbidden(`${path}.nullable`, why));
  }
  return errors;
}
