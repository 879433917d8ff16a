import { describe } from 'vitest';
import { testDeliveries } from './delivery-kills.ts';

describe('deliveries on the embedded database', () => testDeliveries('pglite'));
