import { type ReactNode, useEffect, useRef, useState } from 'react';
import { classes } from './words.ts';

export interface ScrolledProps {
  readonly label: string;
  readonly className?: string;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

/** What may be wider than the page. A region that scrolls must be reachable by keyboard, one that does not must not hold up the Tab key. */
export function Scrolled({ label, className, isBusy = false, children }: ScrolledProps) {
  const box = useRef<HTMLElement>(null);
  const isScrolled = useOverflow(box);
  return (
    <section
      ref={box}
      aria-label={label}
      {...(isScrolled ? { tabIndex: 0 } : {})}
      className={classes('relative overflow-x-auto focus-visible:outline-offset-[-2px]', className)}
      aria-busy={isBusy || undefined}
    >
      {children}
    </section>
  );
}

function useOverflow(box: React.RefObject<HTMLElement | null>): boolean {
  const [isOverflowing, setOverflowing] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setOverflowing(element.scrollWidth > element.clientWidth + 1));
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  });
  return isOverflowing;
}
