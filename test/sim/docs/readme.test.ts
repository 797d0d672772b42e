/** Runs the ```console blocks of the README. */
import { testBlocksOf } from '../../support/page-blocks.ts';

testBlocksOf(['README.md']);
