//! Order in which passwords are hashed. Each requester has its own lane (`Line`), and the lanes of one place in the network form a group
//! (`line`). Groups take turns, and in each group its lanes do. A requester that sends many passwords waits for its own; the others wait
//! for one job of each. Places are limited per group too, so more lanes bring no more places than their addresses have.
//! It is no pool (`actix_socketio::host::fair_pool`): its places are served in turns, and a job leaves it to be done.

use std::collections::{HashMap, VecDeque};

use super::lane::{Group, Lane};

/// How many jobs may wait.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Places of all groups together.
    pub total: usize,
    /// Places that strangers may take; the rest is reserved for known phones.
    pub strangers: usize,
    pub per_group: usize,
}

/// No place is left: the group has its full share, or every place belongs to another lane that has only one.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

/// Jobs `T` in lanes. A place is taken before the job exists. A place that was taken is lost only to a lane with fewer places.
#[derive(Debug)]
pub struct FairQueue<T> {
    bounds: Bounds,
    groups: HashMap<Group, Members<T>>,
    /// Groups that have a job, in the order in which they are served.
    turns: VecDeque<Group>,
    places: usize,
    strangers: usize,
}

/// Counted places: jobs that wait, jobs that are being done, and jobs that do not exist yet.
#[derive(Debug)]
struct Members<T> {
    places: usize,
    lanes: HashMap<Lane, Waiting<T>>,
    /// Lanes that have a job, in the order in which they are served.
    turns: VecDeque<Lane>,
}

#[derive(Debug)]
struct Waiting<T> {
    places: usize,
    jobs: VecDeque<T>,
}

impl<T> FairQueue<T> {
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, groups: HashMap::new(), turns: VecDeque::new(), places: 0, strangers: 0 }
    }

    /// Takes a place for one job. When none is free, the newest job of the largest lane loses its place and is returned; its holder must
    /// then call `give_up_place`.
    ///
    /// # Errors
    /// When no group or lane that could make room has at least two places more than this one.
    pub fn take_place(&mut self, lane: Lane) -> Result<Option<T>, Full> {
        let group = lane.group();
        let own = self.groups.get(&group).map_or(0, |g| g.places);
        let lost = if own >= self.bounds.per_group {
            Some(self.shorten_lane(lane).ok_or(Full)?)
        } else if self.places >= self.bounds.total {
            Some(self.shorten_group(own, |_| true).or_else(|| self.shorten_lane(lane)).ok_or(Full)?)
        } else if !group.known && self.strangers >= self.bounds.strangers {
            Some(self.shorten_group(own, |group| !group.known).or_else(|| self.shorten_lane(lane)).ok_or(Full)?)
        } else {
            None
        };
        self.places += 1;
        self.strangers += usize::from(!group.known);
        let members = self.groups.entry(group).or_insert_with(Members::new);
        members.places += 1;
        members.lanes.entry(lane).or_insert_with(Waiting::new).places += 1;
        Ok(lost)
    }

    /// Releases a place that was taken; its job is done or was never pushed.
    pub fn give_up_place(&mut self, lane: Lane) {
        let group = lane.group();
        let Some(members) = self.groups.get_mut(&group) else { return };
        let Some(own) = members.lanes.get_mut(&lane) else { return };
        own.places -= 1;
        if own.places == 0 {
            members.lanes.remove(&lane);
        }
        members.places -= 1;
        if members.places == 0 {
            self.groups.remove(&group);
        }
        self.places -= 1;
        self.strangers -= usize::from(!group.known);
    }

    /// Adds the job of a place that was taken.
    pub fn push(&mut self, lane: Lane, job: T) {
        let group = lane.group();
        let Some(members) = self.groups.get_mut(&group) else { return };
        let Some(own) = members.lanes.get_mut(&lane) else { return };
        if members.turns.is_empty() {
            self.turns.push_back(group);
        }
        if own.jobs.is_empty() {
            members.turns.push_back(lane);
        }
        own.jobs.push_back(job);
    }

    /// The next job; its place stays taken until it is released.
    pub fn pop(&mut self) -> Option<T> {
        let group = self.turns.pop_front()?;
        let members = self.groups.get_mut(&group)?;
        let lane = members.turns.pop_front()?;
        let jobs = &mut members.lanes.get_mut(&lane)?.jobs;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            members.turns.push_back(lane);
        }
        if !members.turns.is_empty() {
            self.turns.push_back(group);
        }
        job
    }

    /// The newest job of the longest lane of the largest of `groups` that has at least two places more than `own`.
    fn shorten_group(&mut self, own: usize, groups: impl Fn(&Group) -> bool) -> Option<T> {
        let larger = self.groups.iter().filter(|(group, g)| groups(group) && g.places > own + 1 && !g.turns.is_empty());
        let (group, _) = larger.max_by_key(|(_, g)| g.places)?;
        self.take_newest(*group, 0)
    }

    /// The newest job of the longest lane in `line`'s group that has at least two places more than `line`.
    fn shorten_lane(&mut self, lane: Lane) -> Option<T> {
        let group = lane.group();
        let own = self.groups.get(&group)?.lanes.get(&lane).map_or(0, |l| l.places);
        self.take_newest(group, own + 1)
    }

    /// The newest job of the group's longest lane with more than `places`.
    fn take_newest(&mut self, group: Group, places: usize) -> Option<T> {
        let members = self.groups.get_mut(&group)?;
        let longer = members.lanes.iter_mut().filter(|(_, l)| l.places > places && !l.jobs.is_empty());
        let (lane, longest) = longer.max_by_key(|(_, l)| l.places)?;
        let job = longest.jobs.pop_back();
        if longest.jobs.is_empty() {
            let lane = *lane;
            members.turns.retain(|turn| *turn != lane);
            if members.turns.is_empty() {
                self.turns.retain(|turn| *turn != group);
            }
        }
        job
    }
}

impl<T> Members<T> {
    fn new() -> Self {
        Self { places: 0, lanes: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<T> Waiting<T> {
    fn new() -> Self {
        Self { places: 0, jobs: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests {
    use nyala_core::domain::id::CustomerId;

    use super::*;
    use nyala_core::domain::address::Address;

    /// A job that knows its lane, as the real ones do.
    type Queued = (Lane, u32);

    fn queue(total: usize, strangers: usize, per_group: usize) -> FairQueue<Queued> {
        FairQueue::new(Bounds { total, strangers, per_group })
    }

    fn at(address: u32) -> Lane {
        Lane::Address(Address::V4(address))
    }

    fn push(queue: &mut FairQueue<Queued>, lane: Lane, job: u32) -> Result<Option<u32>, Full> {
        let lost = queue.take_place(lane)?;
        if let Some((lane, _)) = lost {
            queue.give_up_place(lane); // as the holder of the lost place does
        }
        queue.push(lane, (lane, job));
        Ok(lost.map(|(_, job)| job))
    }

    fn served(queue: &mut FairQueue<Queued>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|(_, job)| job).collect()
    }

    #[test]
    fn groups_are_served_in_turn_and_in_each_its_lines() {
        let mut queue = queue(20, 20, 20);
        for (lane, job) in [(at(1), 101), (at(1), 102), (at(1), 103), (at(2), 201), (at(3), 301), (at(2), 202)] {
            push(&mut queue, lane, job).unwrap();
        }
        assert_eq!(served(&mut queue), [101, 201, 301, 102, 202, 103]);
        let customer = |id| Lane::Customer(CustomerId::new(id), Address::V4(9));
        for (lane, job) in [(customer(1), 11), (customer(1), 12), (customer(2), 21), (at(4), 401), (at(4), 402)] {
            push(&mut queue, lane, job).unwrap();
        }
        assert_eq!(served(&mut queue), [11, 401, 21, 402, 12]);
    }

    #[test]
    fn one_group_has_no_more_than_its_share_and_what_is_being_done_counts() {
        let mut queue = queue(10, 10, 2);
        push(&mut queue, at(1), 101).unwrap();
        queue.take_place(at(1)).unwrap();
        assert_eq!(push(&mut queue, at(1), 103), Err(Full));
        push(&mut queue, at(2), 201).unwrap();
        assert_eq!(queue.pop(), Some((at(1), 101)));
        assert_eq!(push(&mut queue, at(1), 103), Err(Full), "101 is being done");
        queue.give_up_place(at(1));
        push(&mut queue, at(1), 103).unwrap();
    }

    #[test]
    fn when_all_places_are_taken_the_largest_group_makes_room_for_a_smaller_one() {
        let mut queue = queue(5, 5, 4);
        for (lane, job) in [(at(1), 101), (at(1), 102), (at(1), 103), (at(2), 201), (at(2), 202)] {
            push(&mut queue, lane, job).unwrap();
        }
        assert_eq!(push(&mut queue, at(3), 301), Ok(Some(103)));
        assert_eq!(push(&mut queue, at(3), 302), Err(Full), "no group is larger by more than one");
        let lost = push(&mut queue, at(4), 401).unwrap();
        assert!(lost == Some(102) || lost == Some(202), "{lost:?}");
        assert_eq!(queue.places, 5);
    }

    #[test]
    fn one_address_or_48_with_many_accounts_leaves_room_for_others() {
        for hostile in [
            |n: u64| Lane::Address(Address::V6(0x2001_0db8_0001_0000 | n)),
            |n: u64| Lane::Customer(CustomerId::new(n.cast_signed()), Address::V6(0x2001_0db8_0001_0000 | n)),
            |n: u64| Lane::Customer(CustomerId::new(n.cast_signed()), Address::V4(7)),
        ] {
            let mut queue = queue(128, 96, 32);
            for n in 0..1_000 {
                let _ = push(&mut queue, hostile(n), 1);
            }
            assert_eq!(queue.places, 32);
            for n in 0..60 {
                push(&mut queue, at(100 + n), 2).unwrap();
                push(&mut queue, Lane::Customer(CustomerId::new(1_000 + i64::from(n)), Address::V4(1_000 + n)), 2).unwrap();
            }
        }
    }

    #[test]
    fn a_line_takes_a_place_from_a_longer_line_of_the_same_address() {
        let mut queue = queue(128, 96, 3);
        let customer = |id| Lane::Customer(CustomerId::new(id), Address::V4(7));
        for job in [11, 12, 13] {
            push(&mut queue, customer(1), job).unwrap();
        }
        assert_eq!(push(&mut queue, customer(2), 21), Ok(Some(13)));
        assert_eq!(push(&mut queue, customer(2), 22), Err(Full));
        assert_eq!(push(&mut queue, at(7), 31), Ok(None), "strangers at the address are another group");
    }

    #[test]
    fn strangers_at_any_number_of_addresses_leave_known_phones_their_places() {
        let mut queue = queue(8, 6, 4);
        for n in 0..6 {
            push(&mut queue, at(n), n).unwrap();
        }
        assert_eq!(push(&mut queue, at(7), 7), Err(Full));
        for n in 0..2 {
            assert_eq!(push(&mut queue, Lane::Customer(CustomerId::new(n.into()), Address::V4(n)), 10), Ok(None));
        }
        assert_eq!(
            push(&mut queue, Lane::Customer(CustomerId::new(3), Address::V4(3)), 11),
            Err(Full),
            "eight groups have one each"
        );
    }

    #[test]
    fn a_line_that_lost_its_last_job_has_no_turn() {
        let mut queue = queue(2, 2, 2);
        queue.take_place(at(1)).unwrap();
        push(&mut queue, at(1), 102).unwrap();
        assert_eq!(push(&mut queue, at(2), 201), Ok(Some(102)));
        assert_eq!(served(&mut queue), [201]);
        queue.give_up_place(at(1));
        queue.give_up_place(at(2));
        assert!(queue.groups.is_empty() && queue.places == 0 && queue.strangers == 0);
    }
}
