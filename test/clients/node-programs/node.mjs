import { freemem, totalmem } from 'node:os';
import { gib } from './sizes.mjs';

console.log(`total ${gib(totalmem())}, free ${gib(freemem())}`);
