import { isJsonObject, type Json } from '../../object/json.ts';

/**
 * `s` string, `b` bool, `i` int64, `d` double, else the name of a message; `Any` is one that holds YAML.
 */
export type FieldType = string;

/** A part of a message: one member of the JSON object, or all members of some sort as pairs of name and value. */
export interface Part {
  readonly number: number;
  readonly kind: 'member' | 'list' | 'names' | 'extensions';
  /** Of the member in JSON; empty for the others. */
  readonly name: string;
  readonly type: FieldType;
}

/** Last part first, as messages are written. */
export type Shape = readonly Part[];

/** A message that is one of several; says which, by what the JSON is. */
export type Choice = (value: Json) => readonly [number: number, type: FieldType];

/**
 * Facts of `openapi.v2` of gnostic, as far as our documents go. `number:member:type`, `r` after the number for a list,
 * `number*::type` for members whatever their names, `numberx` for those that begin with `x-`.
 */
const RECORDS: Readonly<Record<string, string>> = {
  Document:
    '1:swagger:s 2:info:Info 8:paths:Paths 9:definitions:Schemas 10:parameters:Parameters ' +
    '12r:security:SecurityRequirement 13:securityDefinitions:SecurityDefinitions',
  Info: '1:title:s 2:version:s 3:description:s',
  Paths: '2*::PathItem',
  PathItem:
    '2:get:Operation 3:put:Operation 4:post:Operation 5:delete:Operation ' +
    '6:options:Operation 7:head:Operation 8:patch:Operation 9r:parameters:ParametersItem 10x',
  Operation:
    '1r:tags:s 2:summary:s 3:description:s 4:externalDocs:ExternalDocs 5:operationId:s 6r:produces:s 7r:consumes:s ' +
    '8r:parameters:ParametersItem 9:responses:Responses 10r:schemes:s 11:deprecated:b ' +
    '12r:security:SecurityRequirement 13x',
  Parameters: '1*::Parameter',
  BodyParameter: '1:description:s 2:name:s 3:in:s 4:required:b 5:schema:Schema 6x',
  QueryParameter:
    '1:required:b 2:in:s 3:description:s 4:name:s 6:type:s 7:format:s 10:default:Any 11:maximum:d 13:minimum:d ' +
    '17:pattern:s 20:uniqueItems:b 21r:enum:Any 23x',
  PathParameter:
    '1:required:b 2:in:s 3:description:s 4:name:s 5:type:s 6:format:s 9:default:Any 10:maximum:d 12:minimum:d ' +
    '16:pattern:s 19:uniqueItems:b 20r:enum:Any 22x',
  JsonReference: '1:$ref:s 2:description:s',
  Responses: '1*::ResponseValue',
  Response: '1:description:s 2:schema:SchemaItem 5x',
  Schemas: '1*::Schema',
  Schema:
    '1:$ref:s 2:format:s 3:title:s 4:description:s 5:default:Any 6:multipleOf:d 7:maximum:d 8:exclusiveMaximum:b ' +
    '9:minimum:d 10:exclusiveMinimum:b 11:maxLength:i 12:minLength:i 13:pattern:s 14:maxItems:i 15:minItems:i ' +
    '16:uniqueItems:b 17:maxProperties:i 18:minProperties:i 19r:required:s 20r:enum:Any ' +
    '21:additionalProperties:AdditionalProperties 22:type:TypeItem 23:items:ItemsItem 24r:allOf:Schema ' +
    '25:properties:Schemas 27:readOnly:b 29:externalDocs:ExternalDocs 30:example:Any 31x',
  ExternalDocs: '1:description:s 2:url:s 3x',
  SecurityRequirement: '1*::StringArray',
  SecurityDefinitions: '1*::SecurityDefinition',
  ApiKeySecurity: '1:type:s 2:name:s 3:in:s 4:description:s 5x',
};

const isReference = (value: Json): boolean => isJsonObject(value) && Object.hasOwn(value, '$ref');
const placeOf = (value: Json): Json | undefined => (isJsonObject(value) ? value['in'] : undefined);

const CHOICES: ReadonlyMap<FieldType, Choice> = new Map<FieldType, Choice>([
  ['AdditionalProperties', (value) => (typeof value === 'boolean' ? [2, 'b'] : [1, 'Schema'])],
  ['ParametersItem', (value) => (isReference(value) ? [2, 'JsonReference'] : [1, 'Parameter'])],
  ['Parameter', (value) => (placeOf(value) === 'body' ? [1, 'BodyParameter'] : [2, 'NonBodyParameter'])],
  ['NonBodyParameter', (value) => (placeOf(value) === 'path' ? [4, 'PathParameter'] : [3, 'QueryParameter'])],
  ['ResponseValue', (value) => (isReference(value) ? [2, 'JsonReference'] : [1, 'Response'])],
  ['SchemaItem', () => [1, 'Schema']],
  ['SecurityDefinition', () => [2, 'ApiKeySecurity']],
  // Lists in the definition of the message, one item in our documents.
  ['TypeItem', () => [1, 's']],
  ['ItemsItem', () => [1, 'Schema']],
]);

export const choiceOf = (type: FieldType): Choice | undefined => CHOICES.get(type);

const shapes = new Map<FieldType, Shape>();

export function shapeOf(type: FieldType): Shape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const text = RECORDS[type];
  if (text === undefined) throw new Error(`${type} is no message of OpenAPI v2`);
  const shape = text.split(' ').map(partOf).reverse();
  shapes.set(type, shape);
  return shape;
}

const KINDS: Readonly<Record<string, Part['kind']>> = { r: 'list', '*': 'names', x: 'extensions' };

function partOf(word: string): Part {
  const [head = '', name = '', type = 'Any'] = word.split(':');
  const number = Number.parseInt(head, 10);
  return { number, kind: KINDS[head.slice(String(number).length)] ?? 'member', name, type };
}
