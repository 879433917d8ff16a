import { Card } from '../../parts/card.tsx';
import { RadioCards } from '../radio-cards.tsx';
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
    hint: 'A modern processor: sends each event once and immediately, and pays out one day after a capture.',
  },
  {
    value: 'tidewater',
    label: 'Tidewater',
    hint: 'A traditional bank: sends events late and more than once, and pays out after two days.',
  },
];

/** The simulated provider that processes payments. */
export function ProviderSection({ draft, onChange }: SectionProps) {
  return (
    <Card
      title="Provider"
      description="The simulated provider. Applies to payments and transfers created from now on."
    >
      <RadioCards
        isLegendHidden
        legend="Provider"
        param="provider"
        value={draft.provider}
        options={providers}
        onChange={(provider) => onChange({ provider })}
      />
    </Card>
  );
}
