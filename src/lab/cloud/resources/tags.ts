import { z } from 'zod';

const MOST_TAGS = 50;
const LONGEST_KEY = 128;
const LONGEST_VALUE = 256;
const RESERVED = 'lab:';

const tagKey = z
  .string()
  .min(1, 'a tag needs a key')
  .max(LONGEST_KEY, `the key of a tag has at most ${LONGEST_KEY} characters`)
  .refine((key) => !key.startsWith(RESERVED), `keys that begin with ${RESERVED} belong to the cloud`);

/** At most 50 tags, none of them the cloud's own (C6). */
export const tagsSchema = z
  .record(tagKey, z.string().max(LONGEST_VALUE, `the value of a tag has at most ${LONGEST_VALUE} characters`))
  .refine((tags) => Object.keys(tags).length <= MOST_TAGS, `an object has at most ${MOST_TAGS} tags`);
