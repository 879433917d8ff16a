import { Card } from '../../parts/card.tsx';
import { Choices } from '../choices.tsx';
import type { SectionProps } from './section.ts';

const providers = [
  {
    value: '',
    label: 'By payment method',
    hint: 'Cards and wallets go to Meridian, bank debits and transfers to Tidewater.',
  },
  {
    value: 'meridian',
    label: 'Meridian',
    hint: 'A modern processor: tells each move once and at once, and pays out the day after a capture.',
  },
  {
    value: 'tidewater',
    label: 'Tidewater',
    hint: 'A bank of the old kind: its messages come late and more than once, and it pays out two days after.',
  },
];

/** Which simulated provider takes the payments. */
export function ProviderSection({ draft, onChange }: SectionProps) {
  return (
    <Card
      title="Provider"
      description="Who simulates the money. It counts for payments and transfers made from now on."
    >
      <Choices
        legend="Provider"
        value={draft.provider}
        options={providers}
        onChange={(provider) => onChange({ provider })}
      />
    </Card>
  );
}
