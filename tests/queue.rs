//! Queues: order, events, failures, several at once.

mod support;

use gcnjit::{Arg, Buffer, Device, Error, Kernel, Module, Prepared, Queue};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

const N: usize = 1000;

fn saxpy(device: &Device) -> Kernel {
    Module::open(device, support::code_object("saxpy", "gfx900")).unwrap().kernel("saxpy").unwrap()
}

/// y += a · x.
fn add<'a>(saxpy: &'a Kernel, x: &'a Buffer<f32>, y: &'a Buffer<f32>, a: f32) -> Prepared<'a> {
    saxpy.launch().grid(N as u32).block(64).arg(x).arg(y).arg(a).arg(N as u32).prepare().unwrap()
}

#[test]
fn launches_run_in_order_and_events_tell_their_times() {
    let device = Device::new().unwrap();
    let saxpy = saxpy(&device);
    let [x, y, z] = [1.0f32, 0.0, 0.0].map(|value| device.buffer_from(&[value; N]).unwrap());
    let events = thread::scope(|scope| {
        let queue = Queue::new(scope).unwrap();
        // Each reads what the one before wrote: y = 2, z = 6, y = 2 + 6 · 4 = 26.
        let steps = [add(&saxpy, &x, &y, 2.0), add(&saxpy, &y, &z, 3.0), add(&saxpy, &z, &y, 4.0)];
        let events: Vec<_> = steps.into_iter().map(|step| queue.submit(step)).collect();
        drop(queue);
        events
    });
    assert_eq!((y.read(), z.read()), (vec![26.0; N], vec![6.0; N]));
    assert!(events.iter().all(|event| event.is_over()));
    let finished: Vec<_> = events.into_iter().map(|event| event.wait().unwrap()).collect();
    for finished in finished {
        assert_eq!(finished.stats.waves, 16);
        assert!(finished.queued + finished.stats.time <= finished.total, "{finished:?}");
    }
}

#[test]
fn a_launch_that_fails_lets_the_next_one_run() {
    let device = Device::new().unwrap();
    let saxpy = saxpy(&device);
    let (x, y) = (device.buffer_from(&[1.0f32; N]).unwrap(), device.buffer::<f32>(N).unwrap());
    let null = saxpy.launch().grid(64).arg(Arg::pointer(0)).arg(&y).arg(1.0f32).arg(64u32).prepare().unwrap();
    thread::scope(|scope| {
        let queue = Queue::new(scope).unwrap();
        let (bad, good) = (queue.submit(null), queue.submit(add(&saxpy, &x, &y, 5.0)));
        assert!(matches!(bad.wait(), Err(Error::Fault(_))));
        good.wait().unwrap();
    });
    assert_eq!(y.read(), [5.0; N]);
}

#[test]
fn a_launch_that_is_cancelled_gives_way() {
    let device = Device::new().unwrap();
    let saxpy = saxpy(&device);
    let (x, y) = (device.buffer_from(&[1.0f32; N]).unwrap(), device.buffer::<f32>(N).unwrap());
    let cancel = AtomicBool::new(true);
    let launch = saxpy.launch().grid(N as u32).arg(&x).arg(&y).arg(1.0f32).arg(N as u32).cancel(&cancel);
    let launch = launch.prepare().unwrap();
    thread::scope(|scope| {
        let queue = Queue::new(scope).unwrap();
        assert!(matches!(queue.submit(launch.clone()).wait(), Err(Error::Stopped(_))));
        cancel.store(false, Relaxed);
        queue.submit(launch.clone()).wait().unwrap();
    });
    assert_eq!(y.read(), [1.0; N]);
}

#[test]
fn queues_of_several_threads_share_a_device() {
    let device = Device::with_threads(2).unwrap();
    let saxpy = &saxpy(&device);
    let x = &device.buffer_from(&[1.0f32; N]).unwrap();
    let sums: Vec<Buffer<f32>> = (0..4).map(|_| device.buffer(N).unwrap()).collect();
    thread::scope(|scope| {
        for y in &sums {
            scope.spawn(move || {
                let queue = Queue::new(scope).unwrap();
                let events: Vec<_> = (0..25).map(|_| queue.submit(add(saxpy, x, y, 1.0))).collect();
                for event in events {
                    event.wait().unwrap();
                }
            });
        }
    });
    for y in &sums {
        assert_eq!(y.read(), [25.0; N]);
    }
}
