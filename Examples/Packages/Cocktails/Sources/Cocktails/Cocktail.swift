import Foundation
import SwiftData

/// A cocktail, with its ingredients and the bars that serve it.
@Model
public final class Cocktail {
    @Attribute(.unique) public var name: String
    public var glass: Glass
    public var author: Author?
    public var rating: Double = 0
    public var notes: String?
    public var added: Date
    public var tags: [String]?
    @Relationship(deleteRule: .cascade, inverse: \Ingredient.cocktail) public var ingredients: [Ingredient] = []
    @Relationship(inverse: \Bar.cocktails) public var bars: [Bar] = []
    @Transient public var isExpanded = false

    public init(name: String, glass: Glass, author: Author? = nil, rating: Double = 0, added: Date = Date()) {
        self.name = name
        self.glass = glass
        self.author = author
        self.rating = rating
        self.added = added
    }
}

/// The glass of a cocktail.
public enum Glass: String, Codable, CaseIterable, Sendable {
    case coupe, highball, rocks
}

/// Who invented a cocktail.
public struct Author: Codable, Hashable, Sendable {
    public var person: String?
    public var place: String
    public var year: Int?

    public init(person: String? = nil, place: String, year: Int? = nil) {
        self.person = person
        self.place = place
        self.year = year
    }
}

/// One ingredient of one cocktail.
@Model
public final class Ingredient {
    public var name: String
    public var amount: Double
    public var cocktail: Cocktail?

    public init(name: String, amount: Double, cocktail: Cocktail? = nil) {
        self.name = name
        self.amount = amount
        self.cocktail = cocktail
    }
}

/// A bar.
@Model
public final class Bar {
    #Index<Bar>([\.name])
    public private(set) var id = UUID()
    public var name: String
    public var cocktails: [Cocktail] = []

    public init(name: String) {
        self.name = name
    }
}
