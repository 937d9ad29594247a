import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// The transitions of an object's state, without a context: what each changes, and what it leaves.
struct ObjectStateTests {
    private let page: RowPage
    private let layout: EntityLayout
    private let count: Int

    /// A page with a note of version 3, whose count is 7.
    init() throws {
        let bench = try RowBench(NSInMemoryStoreType)
        layout = bench.entity("Note").layout
        count = try #require(layout.slot(named: "count"))
        page = RowPage(layout: layout, store: 1)
        page.append(key: 4, version: 3)
        page.set(.integer(7), slot: count)
    }

    private var read: ObjectState {
        var state = ObjectState()
        state.adopt(page, row: 0)
        state.realise()
        return state
    }

    /// A note that was read, and whose count was set to 8 in this event.
    private var changed: ObjectState {
        var state = read
        state.beginEvent()
        state.noteUpdate()
        state.becomeChangeable(.noChanges)
        _ = state.setValue(.integer(8), at: count)
        state.noteRelationshipChange()
        state.toMany.setState(ToManyState(isLoaded: true), at: 0)
        return state
    }

    private func integer(_ value: Value?) -> Int64? {
        if case .integer(let number)? = value { number } else { nil }
    }

    @Test func `a fault with a row has no values until it is realised`() {
        var state = ObjectState()
        state.adopt(page, row: 0)
        #expect(state.isWithoutValues)
        #expect(state.hasOwnRow)
        #expect(state.version == 3)
        #expect(state.cell(count) == nil)
        #expect(integer(state.committedValue(count)) == nil)
        state.realise()
        #expect(!state.isWithoutValues)
        #expect(state.cell(count)?.payload == 7)
        #expect(integer(state.committedValue(count)) == 7)
    }

    @Test func `a fault that was reached from a row does not take that row's values`() {
        var state = ObjectState()
        state.noteOrigin(page, row: 0, slot: 2)
        #expect(state.isWithoutValues)
        #expect(!state.hasOwnRow)
        #expect((state.row, state.originSlot, state.version) == (0, 2, 0))
    }

    @Test func `an object that awaits its batch forgets what was saved and its members`() {
        var state = changed
        state.commit(initial: layout.initialValues)
        state.awaitBatch(page, position: 5)
        #expect(state.isWithoutValues)
        #expect(!state.hasOwnRow)
        #expect(state.committed == nil)
        #expect(state.toMany.isEmpty)
        #expect(state.row == 5)
    }

    @Test func `a new object has initial values, and the flags of an insertion`() {
        var state = ObjectState()
        state.leave()
        state.insert(initial: layout.initialValues)
        #expect(state.flags == .insertion)
        #expect(integer(state.values?[count]) == integer(layout.initialValues[count]))
        #expect(state.committedValues(initial: layout.initialValues) == nil)
        _ = state.setValue(.integer(5), at: count)
        state.insert(initial: layout.initialValues)
        #expect(integer(state.values?[count]) == 5)
    }

    @Test func `an event keeps the values from before it, until its end`() {
        var state = read
        state.beginEvent()
        guard case .unchanged? = state.eventStart else {
            Issue.record("The object had values of its own.")
            return
        }
        state.becomeChangeable(.noChanges)
        _ = state.setValue(.integer(8), at: count)
        state.endEvent()
        #expect(state.eventStart == nil)
        #expect(!state.flags.contains(.changedInEvent))
        state.beginEvent()
        _ = state.setValue(.integer(9), at: count)
        guard case .values(let before)? = state.eventStart else {
            Issue.record("The object had no values of its own.")
            return
        }
        #expect(integer(before[count]) == 8)
        #expect(integer(state.values?[count]) == 9)
    }

    @Test func `a changed value covers the committed one`() {
        let state = changed
        #expect(integer(state.values?[count]) == 8)
        #expect(integer(state.committedValue(count)) == 7)
        #expect(state.isCommitted(.integer(7), slot: count, in: layout))
        #expect(!state.isCommitted(.integer(8), slot: count, in: layout))
    }

    @Test func `a save makes the values the committed ones, and keeps the row beneath`() {
        var state = changed
        state.noteWrite()
        state.commit(initial: layout.initialValues)
        #expect(state.values == nil)
        #expect(integer(state.committedValue(count)) == 8)
        #expect(state.page === page)
        #expect(state.version == 4)
        #expect(state.flags == .realised)
        #expect(state.eventStart == nil)
        // Further changes over the first ones.
        state.becomeChangeable(.noChanges)
        _ = state.setValue(.integer(9), at: count)
        state.commit(initial: layout.initialValues)
        #expect(integer(state.committedValue(count)) == 9)
        let all = state.committedValues(initial: layout.initialValues)
        #expect(integer(all?[count]) == 9)
        #expect(all?.count == layout.slots.count)
    }

    @Test func `a save of all values forgets the row`() {
        var state = ObjectState()
        state.insert(initial: layout.initialValues)
        state.noteFirstVersion()
        state.commit(initial: layout.initialValues)
        #expect(state.page == nil)
        #expect(state.version == 1)
        #expect(state.flags == .realised)
        #expect(state.committedValues(initial: [])?.count == layout.slots.count)
    }

    @Test func `a fault has neither values nor changes, and keeps its deletion`() {
        var state = changed
        state.delete()
        state.mark(.listed)
        state.turnIntoFault()
        #expect(state.isWithoutValues)
        #expect(state.page == nil)
        #expect(state.committed == nil)
        #expect(state.toMany.isEmpty)
        #expect(state.eventStart == nil)
        #expect(state.flags == [.deleted, .listed])
    }

    @Test func `a withdrawn row is read again, and what has changed stays noted`() {
        var state = changed
        state.withdrawRow()
        #expect(state.isWithoutValues)
        #expect(state.page == nil)
        #expect(state.flags == [.updated, .changedInEvent, .relationshipChanged])
        #expect(state.eventStart != nil)
        state.adopt(page, row: 0)
        state.realise()
        #expect(integer(state.committedValue(count)) == 7)
    }

    @Test func `discarded changes uncover the row`() {
        var state = changed
        state.delete()
        state.noteDeletionPropagated()
        state.mark(.listed)
        state.discardChanges()
        #expect(integer(state.committedValue(count)) == 7)
        #expect(state.values == nil)
        #expect(state.toMany.isEmpty)
        #expect(state.flags == [.realised, .listed, .changedInEvent])
        state.rollBack()
        #expect(state.flags == .realised)
    }

    @Test func `a deletion is undone with its delete rules`() {
        var state = read
        state.delete()
        state.noteDeletionPropagated()
        state.undelete()
        #expect(state.flags == .realised)
    }

    @Test func `an object whose row was deleted becomes a new one, with its values`() {
        var state = changed
        var values = layout.initialValues
        values[count] = .integer(8)
        state.reinsert(values)
        #expect(state.page == nil)
        #expect(state.committed == nil)
        #expect(integer(state.values?[count]) == 8)
        #expect(state.flags.isSuperset(of: [.inserted, .realised, .updated]))
        state.noteStored()
        #expect(!state.flags.contains(.inserted))
        #expect(state.flags.contains(.updated))
    }

    @Test func `an object whose deletion was saved is new in this event`() {
        var state = read
        state.leave(keeping: .realised)
        state.reinsert(layout.initialValues, toMany: [])
        #expect(state.version == 0)
        #expect(state.flags == [.inserted, .realised, .insertedInEvent, .changedInEvent])
    }

    @Test func `an object without a row has nothing, and may be looked for again`() {
        var state = ObjectState()
        state.becomeInaccessible(slots: layout.slots.count, relationships: 2)
        #expect(state.values?[count]?.isNull == true)
        #expect(state.toMany.count == 2)
        #expect(state.flags == [.realised, .inaccessible])
        state.becomeAccessible()
        #expect(state.flags == [])
    }

    @Test func `an object that leaves its context keeps its values, or has none`() {
        var state = changed
        state.mark([.listed, .watched])
        state.leave(keeping: .changedInEvent)
        #expect(state.flags == [.gone, .changedInEvent])
        #expect(integer(state.values?[count]) == 8)
        state.leaveWithoutValues()
        #expect(state.flags == .gone)
        #expect(state.values == nil)
        #expect(state.page == nil)
        #expect(state.eventStart == nil)
        state.realiseWithoutContext()
        #expect(!state.isWithoutValues)
    }
}
