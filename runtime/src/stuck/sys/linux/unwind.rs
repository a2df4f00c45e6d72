//! Follows a copied stack from frame to frame, by the frame descriptions of the loaded modules.
//!
//! It reads the copy, and copies of the descriptions, so whatever they contain, the worst result is
//! a trace that ends too soon.

use gimli::{
    CfaRule, Encoding, EvaluationResult, Location, Register, RegisterRule, UnwindContext,
    UnwindExpression, UnwindSection, Value,
};

use super::modules::{Descriptions, Modules};
use super::signal::Registers;
use crate::stuck::sys::CodeAddress;

/// The longest trace.
const FRAMES: usize = 128;
/// The bits of an address that may be in use; a signed return address on arm64 has others.
const ADDRESS_BITS: u64 = (1 << 48) - 1;

/// A walk over one stack.
pub(super) struct Unwinder<'a> {
    modules: &'a Modules,
    /// The descriptions that were used last.
    descriptions: Vec<(std::ops::Range<usize>, Descriptions)>,
    registers: Registers,
    stack: &'a [u8],
    /// The stack pointer of the innermost frame, where the copy begins.
    start: u64,
}

/// The next frame outwards.
struct Caller {
    registers: Registers,
    /// The frame belongs to the kernel's call of a signal handler: its caller was interrupted, and called nothing.
    is_signal: bool,
}

impl<'a> Unwinder<'a> {
    /// Creates a walk that begins at these registers, with the stack from the stack pointer upwards.
    pub(super) fn new(modules: &'a Modules, registers: Registers, stack: &'a [u8]) -> Self {
        let start = registers.values[Registers::SP];
        Self { modules, descriptions: Vec::new(), registers, stack, start }
    }

    /// Returns the code addresses of the frames, innermost first.
    pub(super) fn addresses(mut self) -> Vec<CodeAddress> {
        let at = |pc: u64, is_return| CodeAddress { address: pc as usize, is_return };
        let mut addresses = vec![at(self.registers.pc, false)];
        // The innermost frame and those that were interrupted are somewhere in the middle of their function; all others
        // are in a call.
        let mut is_call = false;
        while addresses.len() < FRAMES {
            let caller = self.caller(is_call);
            let Some(Caller { registers, is_signal }) =
                caller.or_else(|| self.caller_of_unknown(is_call))
            else {
                break;
            };
            let sp = Registers::SP;
            // If the stack does not shrink, it is corrupt, or this is its end.
            let is_outwards = registers.values[sp] > self.registers.values[sp]
                || (addresses.len() == 1 && registers.values[sp] == self.registers.values[sp]);
            if registers.pc == 0 || !is_outwards {
                break;
            }
            self.registers = registers;
            is_call = !is_signal;
            addresses.push(at(self.registers.pc, is_call));
        }
        addresses
    }

    /// Returns the caller of the frame that the registers are in.
    fn caller(&mut self, is_call: bool) -> Option<Caller> {
        let pc = self.registers.pc.checked_sub(u64::from(is_call))?;
        let at = self.descriptions_of(pc)?;
        let descriptions = &self.descriptions[at].1;
        let (index, frames, bases) =
            (descriptions.index(), descriptions.frames(), &descriptions.bases);
        let index = index.parse(bases, 8).ok()?;
        let entry = index
            .table()?
            .fde_for_address(&frames, bases, pc, gimli::EhFrame::cie_from_offset)
            .ok()?;
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(&frames, bases, &mut context, pc).ok()?;
        let encoding = entry.cie().encoding();
        let evaluate = |expression: &UnwindExpression<usize>, first: Option<u64>| {
            self.evaluate(expression, &frames, encoding, first)
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.value(*register)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => evaluate(expression, None)?,
        };
        let mut registers = self.registers;
        registers.values[Registers::SP] = cfa;
        let mut return_address = self.value(Register(Registers::RETURN as u16));
        for number in 0..Registers::COUNT {
            let value = match row.register(Register(number as u16)) {
                RegisterRule::Offset(offset) => self.read(cfa.wrapping_add_signed(offset)),
                RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
                RegisterRule::Register(other) => self.value(other),
                RegisterRule::Expression(place) => {
                    evaluate(&place, Some(cfa)).and_then(|place| self.read(place))
                }
                RegisterRule::ValExpression(value) => evaluate(&value, Some(cfa)),
                // The outermost frame. On arm64 it is also that of a function which has not saved its return address.
                RegisterRule::Undefined
                    if number == Registers::RETURN && cfg!(target_arch = "x86_64") =>
                {
                    return None;
                }
                _ => continue,
            };
            if number == Registers::RETURN {
                return_address = value;
            }
            registers.values[number] = value?;
        }
        let is_signal = entry.is_signal_trampoline();
        registers.pc = return_address? & ADDRESS_BITS;
        Some(Caller { registers, is_signal })
    }

    /// Returns the caller of an innermost frame about which nothing is known, as if its function had just been called.
    fn caller_of_unknown(&self, is_call: bool) -> Option<Caller> {
        if is_call {
            return None;
        }
        let mut registers = self.registers;
        if cfg!(target_arch = "x86_64") {
            let sp = &mut registers.values[Registers::SP];
            registers.pc = self.read(*sp)?;
            *sp += 8;
        } else {
            registers.pc = registers.values[Registers::RETURN] & ADDRESS_BITS;
        }
        Some(Caller { registers, is_signal: false })
    }

    /// Returns the place of the frame descriptions for an address, which are read if necessary.
    fn descriptions_of(&mut self, pc: u64) -> Option<usize> {
        let pc = pc as usize;
        let known = self.descriptions.iter().position(|(range, _)| range.contains(&pc));
        if known.is_none() {
            self.descriptions.push(self.modules.descriptions(pc)?);
        }
        known.or(self.descriptions.len().checked_sub(1))
    }

    fn value(&self, register: Register) -> Option<u64> {
        self.registers.values.get(usize::from(register.0)).copied()
    }

    /// Reads a word of the stack, if it was copied.
    fn read(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// Evaluates an expression, as signal frames and stubs of the linker have them.
    fn evaluate<'b>(
        &self,
        expression: &UnwindExpression<usize>,
        frames: &gimli::EhFrame<super::modules::Bytes<'b>>,
        encoding: Encoding,
        first: Option<u64>,
    ) -> Option<u64> {
        let mut evaluation = expression.get(frames).ok()?.evaluation(encoding);
        evaluation.set_max_iterations(1000);
        if let Some(first) = first {
            evaluation.set_initial_value(first);
        }
        let mut step = evaluation.evaluate().ok()?;
        loop {
            step = match step {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    evaluation.resume_with_memory(Value::Generic(self.read(address)?)).ok()?
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.value(register)?)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result().last()?.location {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }
}
