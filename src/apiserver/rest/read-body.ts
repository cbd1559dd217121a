import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { JsonProblem } from '../../object/json-text.ts';
import { UNREADABLE_TYPE } from '../../object/type-header.ts';
import { ProtobufProblem } from '../protobuf/decode-body.ts';
import { badRequest, unsupportedMediaType } from '../status.ts';
import { bodyType, type ExpectedKind, parseBody } from './parse-body.ts';
import type { Scope } from './services.ts';

/** The body of a request as an object of a kind that has no resource of its own: Scale, Binding, DeleteOptions. */
export async function readJsonBody(scope: Scope, expected: ExpectedKind): Promise<JsonObject> {
  const bytes = await scope.request.body();
  const mediaType = bodyType(scope.request.headers);
  try {
    const parsed = await parseBody(mediaType, bytes, expected);
    if (parsed === undefined) throw unsupportedMediaType(`the body of the request was in an unknown format`);
    if (isJsonObject(parsed.value)) return parsed.value;
  } catch (error) {
    if (!(error instanceof JsonProblem || error instanceof ProtobufProblem)) throw error;
    throw badRequest(`${UNREADABLE_TYPE}${error.message}`);
  }
  throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind})`);
}
