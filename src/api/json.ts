/**
 * A JSON value as this project holds it. An integer beyond 2^53 is a `bigint`, so that no digit is lost; everything else
 * is what `JSON.parse` gives. Objects may hold any key, `__proto__` included: never write `target[key] = …` on
 * them with a key from outside, use `setKey` of `object/json.ts`.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}
