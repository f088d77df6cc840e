//! Global wave sync: the device's 64 resources that waves of any work-group meet at, each a barrier or a semaphore.
//!
//! A resource has a counter and a queue of waves. Who has to wait takes a place in the queue and gets a [`Ticket`] for
//! it; a wave goes on as soon as its place is [called](Gws::is_called). The semantics are the Vega manual's, where each
//! operation has pseudo-code:
//!
//! - a barrier's counter says how many waves are still to come before the last one. Who finds it above zero takes one
//!   off and waits; who finds it at zero is the last one, sets it for the next round, and calls everybody;
//! - a semaphore's counter says how many waves may pass. A signal calls the wave that waits longest, if one does, and
//!   counts otherwise.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Resources of a device.
pub const RESOURCES: u32 = 64;

/// The resources.
pub struct Gws(Mutex<[Resource; RESOURCES as usize]>);

#[derive(Default)]
struct Resource {
    counter: u32,
    /// Who waits, the longest first.
    queue: VecDeque<u64>,
    /// The number of the next place in the queue.
    next: u64,
}

/// An operation on a resource; what a wave says to it is the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Sets the counter.
    Init(u32),
    /// Meets the others; the number is how many waves but the last have to come to the next meeting.
    Barrier(u32),
    /// Waits for a signal.
    P,
    /// One signal.
    V,
    /// So many signals.
    Bulk(u32),
    /// Calls all waves that wait. Without any it does nothing.
    ReleaseAll,
}

/// A place in the queue of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    resource: u32,
    number: u64,
}

impl Default for Gws {
    fn default() -> Gws {
        Gws(Mutex::new(std::array::from_fn(|_| Resource::default())))
    }
}

impl Gws {
    /// The resource that an instruction means: M0's bits 21:16 and the instruction's offset, modulo their number.
    pub fn resource(m0: u32, offset: u32) -> u32 {
        (m0 >> 16).wrapping_add(offset) % RESOURCES
    }

    /// Performs a request on a resource, taken modulo their number. A ticket if the wave has to wait.
    pub fn request(&self, resource: u32, request: Request) -> Option<Ticket> {
        let number = self.resources()[(resource % RESOURCES) as usize].request(request)?;
        Some(Ticket { resource: resource % RESOURCES, number })
    }

    /// Whether the wave with the ticket may go on.
    pub fn is_called(&self, ticket: Ticket) -> bool {
        !self.resources()[ticket.resource as usize].queue.contains(&ticket.number)
    }

    /// Leaves the queue: the wave will not be there to go on.
    pub fn withdraw(&self, ticket: Ticket) {
        self.resources()[ticket.resource as usize].queue.retain(|number| *number != ticket.number);
    }

    /// The counters of all resources.
    pub fn counters(&self) -> [u32; RESOURCES as usize] {
        self.resources().each_ref().map(|resource| resource.counter)
    }

    /// Sets the counters of all resources, and leaves their queues alone.
    pub fn set_counters(&self, counters: [u32; RESOURCES as usize]) {
        for (resource, counter) in self.resources().iter_mut().zip(counters) {
            resource.counter = counter;
        }
    }

    fn resources(&self) -> MutexGuard<'_, [Resource; RESOURCES as usize]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resource {
    fn request(&mut self, request: Request) -> Option<u64> {
        match request {
            Request::Init(count) => self.counter = count,
            Request::Barrier(count) if self.counter == 0 => {
                self.counter = count;
                self.queue.clear();
            }
            Request::Barrier(_) | Request::P if self.counter > 0 => {
                self.counter -= 1;
                return matches!(request, Request::Barrier(_)).then(|| self.wait());
            }
            Request::Barrier(_) | Request::P => return Some(self.wait()),
            Request::V => self.signal(1),
            Request::Bulk(count) => self.signal(count),
            Request::ReleaseAll => self.queue.clear(),
        }
        None
    }

    /// Calls as many waves as it can of `count`, and counts the rest.
    fn signal(&mut self, count: u32) {
        let called = self.queue.len().min(count as usize);
        self.queue.drain(..called);
        self.counter = self.counter.saturating_add(count - called as u32);
    }

    fn wait(&mut self) -> u64 {
        self.next += 1;
        self.queue.push_back(self.next);
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::{Gws, Request::*};

    #[test]
    fn the_last_wave_opens_the_barrier_for_all() {
        let gws = Gws::default();
        assert_eq!(gws.request(3, Init(2)), None);
        for _ in 0..3 {
            let [first, second] = [gws.request(3, Barrier(2)), gws.request(3, Barrier(2))].map(Option::unwrap);
            assert!(!gws.is_called(first) && !gws.is_called(second));
            assert_eq!(gws.request(3, Barrier(2)), None);
            assert!(gws.is_called(first) && gws.is_called(second));
        }
    }

    #[test]
    fn the_last_wave_says_how_many_meet_next() {
        let gws = Gws::default();
        assert_eq!(gws.request(0, Barrier(1)), None);
        let first = gws.request(0, Barrier(7)).unwrap();
        assert_eq!(gws.request(0, Barrier(0)), None);
        assert!(gws.is_called(first));
        assert_eq!(gws.request(0, Barrier(0)), None);
    }

    #[test]
    fn signals_call_in_the_order_of_arrival_and_are_kept() {
        let gws = Gws::default();
        assert_eq!(gws.request(9, Bulk(2)), None);
        assert_eq!([gws.request(9, P), gws.request(9, P)], [None; 2]);
        let waits = [(); 4].map(|()| gws.request(9, P).unwrap());
        gws.request(9, V);
        assert_eq!(waits.map(|wait| gws.is_called(wait)), [true, false, false, false]);
        gws.withdraw(waits[1]);
        gws.request(9, V);
        assert_eq!(waits.map(|wait| gws.is_called(wait)), [true, true, true, false]);
        gws.request(9, ReleaseAll);
        gws.request(9, ReleaseAll);
        assert!(gws.is_called(waits[3]) && gws.request(9, P).is_some());
        gws.request(9, Bulk(3));
        assert_eq!([gws.request(9, P), gws.request(9, P)], [None; 2]);
    }

    #[test]
    fn the_resource_is_a_sum_modulo_their_number() {
        assert_eq!([Gws::resource(0x0003_ffff, 2), Gws::resource(0x003f_0000, 3)], [5, 2]);
    }
}
