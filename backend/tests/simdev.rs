#[path = "api/simulation/mod.rs"] mod simulation;
